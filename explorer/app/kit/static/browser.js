// One order of the server, see `kit.browser`: ``cb_obj.value`` is JSON with ``act``.

const order = JSON.parse(cb_obj.value)
const folder = window.location.pathname.replace(/[^/]*$/, "")
const answer = content => { reply.value = JSON.stringify({number: order.number, ...content}) }
/** Change arguments of the address without a reload; an empty one is taken away. */
const address = query => {
  const search = new URLSearchParams(window.location.search)
  for (const [name, value] of Object.entries(query))
    value ? search.set(name, value) : search.delete(name)
  const {pathname, hash} = window.location
  const rest = search.toString() ? "?" + search : ""
  window.history.replaceState(window.history.state, "", pathname + rest + hash)
}
// A page without https from another computer may not use the clipboard: it copies by selecting.
const copy_by_hand = text => {
  const area = document.createElement("textarea")
  area.value = text
  area.style.position = "fixed"
  area.style.opacity = "0"
  document.body.append(area)
  area.select()
  let done = false
  try { done = document.execCommand("copy") } catch (_) {}
  area.remove()
  return done
}
const acts = {
  query: ({query}) => address(query),
  go: ({where}) => { window.location.href = where },
  copy: ({text, link, page}) => {
    const {origin, pathname} = window.location
    const path = page ? pathname.replace(/[^/]*$/, page) : pathname
    const copied = link ? `${origin}${path}?s=${link}` : text
    const tell = done => answer({done, text: done ? "" : copied})
    if (navigator.clipboard && window.isSecureContext)
      navigator.clipboard.writeText(copied).then(() => tell(true), () => tell(copy_by_hand(copied)))
    else tell(copy_by_hand(copied))
  },
  // For this tab. Servers behind one host have folders of their own.
  links: ({links}) => {
    const place = "explorer-workspace:" + folder
    let known = {}
    // What cannot be read is written anew.
    try { known = JSON.parse(window.sessionStorage.getItem(place)) ?? {} } catch (_) {}
    window.sessionStorage.setItem(place, JSON.stringify({...known, ...links}))
  },
  // For good.
  keep: ({name, value}) => window.localStorage.setItem(name, value),
  recall: ({name}) => answer({value: window.localStorage.getItem(name) ?? ""}),
  cookie: ({name, value, seconds}) => {
    document.cookie = `${name}=${value}; path=/; max-age=${seconds}; SameSite=Strict`
  },
  // Each page changes what it knows of, and other tabs keep theirs.
  remember: ({cookie, name, value}) => {
    const sent = document.cookie.split("; ").find(text => text.startsWith(cookie + "="))
    const pairs = sent ? sent.slice(cookie.length + 1).split("|").filter(Boolean) : []
    const others = pairs.filter(pair => !pair.startsWith(name + ":"))
    document.cookie = `${cookie}=${[...others, name + ":" + value].join("|")}; path=${folder}; `
      + "max-age=31536000; samesite=lax"
  },
}
// A browser may refuse to keep anything: then nothing is kept.
try { acts[order.act](order) } catch (error) { console.warn(error) }
