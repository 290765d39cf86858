// The links of a page carry what its tab keeps, see `kit.browser.Tab`. A link is written when it is
// used: by then the tab knows the last change.
const folder = window.location.pathname.replace(/[^/]*$/, "")
const place = "explorer-workspace:" + folder
const known = () => {
  try { return JSON.parse(window.sessionStorage.getItem(place)) ?? {} } catch (_) { return {} }
}

const lead = event => {
  const link = event.composedPath().find(each => each instanceof HTMLAnchorElement)
  if (!link) return
  link.dataset.plain ??= link.href
  const there = new URL(link.dataset.plain)
  const page = pages[there.pathname.slice(folder.length)]
  const ours = there.origin === window.location.origin && there.pathname.startsWith(folder)
  // A link that says what it shows goes before what the tab knows.
  if (!ours || !page || there.search) return
  const kept = known()
  const put = (name, value) => value && there.searchParams.set(name, value)
  put(own, kept[page])
  // A page that shares nothing takes no notice of it.
  put(shared, kept.shared)
  put(left, kept.left)
  const asked = new URLSearchParams(window.location.search)
  for (const name of along) put(name, asked.get(name))
  link.href = there.href
  // Who comes back finds the page as it was left.
  if (event.type === "click" && kept[here]) {
    const back = new URL(window.location.href)
    for (const name of [shared, left]) back.searchParams.delete(name)
    back.searchParams.set(own, kept[here])
    window.history.replaceState(window.history.state, "", back)
  }
}
for (const act of ["click", "auxclick", "contextmenu"])
  window.addEventListener(act, lead, true)
