// Keys of a page, see `kit.browser`. A field keeps what is typed into it. Arrows, Delete and Escape act
// on boxes where nothing has the focus, or a map: sliders, menus and tables have uses of their own
// for them. Letters act but in menus, where they look for an option. Enter acts on a map alone:
// elsewhere it presses buttons.
let number = 0
// Between two shadow roots of one page no event of the focus comes up to here; the key that moved
// it does.
document.addEventListener("keyup", event => {
  const map = event.composedPath()[0]
  if (!map.matches?.(".bk-events")) return
  map.setAttribute("aria-label", about)
  if (!map.matches(":focus-visible")) return
  map.style.outline = "3px solid #8ec5ff"
  map.style.outlineOffset = "-3px"
  map.addEventListener("focusout", () => { map.style.outline = "" }, {once: true})
}, true)
document.addEventListener("keydown", event => {
  const path = event.composedPath().filter(each => each instanceof Element)
  const typing = path.some(each => each.isContentEditable
    || (each.matches("input, textarea, select") && each.type !== "range"))
  const mod = event.ctrlKey || event.metaKey
  const arrow = event.key.startsWith("Arrow")
  const shift = event.shiftKey && !arrow ? "shift+" : ""
  const key = mod ? `mod+${shift}${event.key.toLowerCase()}` : event.key
  const map = path.some(each => each.matches(".bk-Figure"))
  const free = key === "Enter" ? map : map || path[0] === document.body
  const anywhere = mod && !arrow
  const menu = path.some(each => each.matches("[role=combobox], [role=listbox], [role=option]"))
  const letter = key.length === 1 && !menu && !event.repeat
  if (typing || event.altKey || !keys.includes(key) || (!anywhere && !free && !letter)) return
  if (key !== "Escape") event.preventDefault()
  said.value = JSON.stringify({number: ++number, key, far: event.shiftKey})
})
