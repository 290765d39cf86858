// A link keeps place and areas behind the #: it is never sent to the server.
const LONGEST = 8000

export function written(view, list) {
  const parts = new URLSearchParams()
  parts.set("at", [view.x, view.y].map(each => each.toFixed(1)).concat(view.zoom).join())
  for (const { name, box, shape } of list)
    parts.append(box ? "box" : "shape", [name.replaceAll(",", " "), ...(box ?? shape.flat())].join())
  return `#${parts}`
}

export function read(text) {
  const parts = new URLSearchParams(text.slice(0, LONGEST).replace(/^#/, ""))
  const at = (parts.get("at") ?? "").split(",").map(Number)
  const found = { at: at.length == 3 && at.every(Number.isFinite) ? at : null, list: [] }
  for (const [kind, said] of parts) {
    if (kind != "box" && kind != "shape") continue
    const [name, ...rest] = said.split(",")
    const numbers = rest.map(Number)
    if (!numbers.every(Number.isFinite) || found.list.length >= 30) continue
    const named = { name: name.slice(0, 40) || "Area" }
    if (kind == "box" && numbers.length == 4) found.list.push({ ...named, box: numbers })
    if (kind == "shape" && numbers.length >= 6 && numbers.length <= 120 && numbers.length % 2 == 0) {
      const shape = []
      for (let i = 0; i < numbers.length; i += 2) shape.push(numbers.slice(i, i + 2))
      found.list.push({ ...named, shape })
    }
  }
  return found
}

// Keep the address as the page is, and the page as its address.
export function linked(stage, areas) {
  const { view } = stage
  let own = location.hash
  const follow = () => {
    const found = read(location.hash)
    if (found.at) {
      view.zoom = Math.min(view.deepest, Math.max(0, Math.round(found.at[2])))
      ;[view.x, view.y] = found.at
      view.settle()
    }
    areas.list = found.list
    areas.chosen = found.list.length - 1
    stage.moved()
    areas.changed()
  }
  let resting
  const keep = () => {
    clearTimeout(resting)
    resting = setTimeout(() => {
      own = written(view, areas.list)
      history.replaceState(null, "", own)
    }, 300)
  }
  stage.onmoved = keep
  areas.onchange = keep
  addEventListener("hashchange", () => { if (location.hash != own) follow() })
  document.getElementById("link")?.addEventListener("click", async () => {
    own = written(view, areas.list)
    history.replaceState(null, "", own)
    try {
      await navigator.clipboard.writeText(location.href)
      areas.say("The link is copied: it leads to this place and these areas.")
    } catch (_) {
      areas.say("The link stands in the address of this page: copy it from there.")
    }
  })
  if (read(own).at || read(own).list.length) follow()
  return Boolean(read(own).list.length)
}
