// Before anything is painted: light or dark, as this browser was told, or as its system has it.
(() => {
  const root = document.documentElement
  let told = null
  try { told = localStorage.getItem("theme") } catch (_) {}
  const dark = matchMedia("(prefers-color-scheme: dark)")
  const paint = () => {
    root.dataset.theme = told ?? (dark.matches ? "dark" : "light")
    dispatchEvent(new Event("themed"))
  }
  dark.addEventListener("change", paint)
  paint()
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      told = root.dataset.theme == "dark" ? "light" : "dark"
      try { localStorage.setItem("theme", told) } catch (_) {}
      paint()
    })
  })
})()
