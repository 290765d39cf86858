// Run once in a served page, when it is in the browser.

const all = (root, selector, matches = []) => {
  for (const element of root.querySelectorAll("*")) {
    if (element.matches(selector)) matches.push(element)
    if (element.shadowRoot) all(element.shadowRoot, selector, matches)
  }
  return matches
}

// Roles of menus. panel-material-ui hands Material UI the entries of a menu in one piece, so that it
// cannot give them their roles: a list box holds menu items, and none says that it is chosen.
const give_roles = chosen => {
  for (const list of all(document, "ul[role=listbox]"))
    for (const entry of list.querySelectorAll("li[role=menuitem]")) {
      const selected = entry.innerText.trim() === chosen
      entry.setAttribute("role", "option")
      entry.setAttribute("aria-selected", selected)
      if (!selected) continue
      entry.classList.add("Mui-selected")
      entry.style.boxShadow = "inset 3px 0 currentColor"
      entry.style.fontWeight = "600"
      entry.scrollIntoView({block: "nearest"})
      entry.focus()
    }
}
const opened = event => {
  const menu = event.composedPath().find(element => element.matches?.("[role=combobox]"))
  if (!menu) return
  const chosen = menu.innerText.trim()
  for (const wait of [0, 50, 200, 600]) setTimeout(() => give_roles(chosen), wait)
}
for (const act of ["mousedown", "click", "keydown"]) window.addEventListener(act, opened, true)

// A link before all else, seen with the focus only: past bar and drawer to the content (WCAG 2.4.1).
if (!document.getElementById("skip")) {
  const link = document.createElement("a")
  Object.assign(link, {id: "skip", href: "#", textContent: "Skip to the content"})
  const style = "position: fixed; left: 8px; top: 4px; z-index: 3000; padding: 10px 14px; "
    + "border-radius: 4px; font: 600 16px/24px system-ui, sans-serif; color: #10161d; "
    + "background: #ffffff; outline: 2px solid #0b5394; text-decoration: none;"
  const seen = on => { link.style.cssText = style + (on ? "" : "transform: translateY(-200%);") }
  seen(false)
  link.addEventListener("focus", () => seen(true))
  link.addEventListener("blur", () => seen(false))
  link.addEventListener("click", event => {
    event.preventDefault()
    const content = all(document, "main")[0]
    content?.setAttribute("tabindex", "-1")
    content?.focus()
  })
  document.body.prepend(link)
}

// A page that could not be made has nothing that would take the place of a kept picture.
if (!Bokeh.documents.some(page => page.roots().some(root => root.data?.sidebar?.length)))
  document.getElementById("first-screen")?.remove()

// A narrow window. The server knows a phone by its name alone. Below 600 pixels (the breakpoint "sm"
// of Material UI) an open drawer is over the page; next to it a tablet held upright has no space for
// two maps.
if (window.innerWidth < 960)
  for (const root of Bokeh.documents.flatMap(page => page.roots()))
    if (root.data?.sidebar?.length && root.data.sidebar_open === true) {
      root.data.sidebar_open = false
      // Of badge and links the links name the page: there is no room for its title as well.
      if (root.data.header?.length > 1) root.data.title = ""
    }

// Paper: what is outside of the page, and how wide the page is on the screen; see `kit.theme`.
if (!window.explorer_paper) {
  window.explorer_paper = true
  const style = document.createElement("style")
  style.textContent = `@page { size: A4 landscape; margin: 10mm }
    @media print {
      html, body { background: #ffffff !important; height: auto !important;
        overflow: visible !important; print-color-adjust: exact;
        -webkit-print-color-adjust: exact; } }`
  document.head.append(style)
  window.addEventListener("beforeprint", () => {
    const wide = all(document, "main")[0]?.lastElementChild?.clientWidth ?? 0
    if (!wide) return
    // 277 mm of a landscape sheet, in the pixels of CSS.
    const {style} = document.documentElement
    style.setProperty("--paper-width", `${wide}px`)
    style.setProperty("--paper-zoom", String(Math.min(1, 1046 / wide)))
    // Maps are as high as the window leaves room for; a sheet is another window.
    style.setProperty("--explorer-window", `${window.innerHeight}px`)
  })
  window.addEventListener("afterprint", () => {
    document.documentElement.style.removeProperty("--explorer-window")
  })
}

// Values that change while a control is drawn. Panel's components take their values when they are
// drawn, and listen to changes only once they stand on the page (``useState`` of
// ``panel.models.esm.ReactComponent``). What is set in between is in the model and not on the screen.
const models = Bokeh.documents.flatMap(page => [...page._all_models.values()])
const drawn = models.find(model => model.type === "panel.models.esm.ReactComponent")
const kind = drawn?.default_view?.prototype, prototype = drawn && Object.getPrototypeOf(drawn)
if (kind?.render_esm && kind.after_rendered && !kind.render_esm.repeats_changes) {
  const {render_esm, after_rendered} = kind, {watch} = prototype
  const taken = new WeakMap()
  kind.render_esm = function (...given) {
    taken.set(this, {...this.model.data.attributes})
    return render_esm.apply(this, given)
  }
  kind.render_esm.repeats_changes = true
  kind.after_rendered = function (...given) {
    const before = taken.get(this), data = this.model.data
    // Most listen a moment after they are drawn; to hear the same again changes nothing, but that
    // a file would be handed out twice.
    const file = before && "filename" in before ? "data" : null
    if (before) for (const wait of [50, 500]) setTimeout(() => {
      const now = data.attributes
      for (const name in before)
        if (name !== file && now[name] !== before[name]) data.properties[name].change.emit()
    }, wait)
    return after_rendered.apply(this, given)
  }
  // On a busy computer seconds pass until they listen: as they begin to, they hear it.
  if (watch) prototype.watch = function (view, name, hear, ...given) {
    const result = watch.call(this, view, name, hear, ...given)
    const before = view && taken.get(view), now = this.data.attributes
    if (before && name in before && now[name] !== before[name]) hear()
    return result
  }
}
