// Numbers as people read them: whole, with commas, and a real minus.
export const number = value => Math.round(value).toLocaleString("en-US").replace("-", "−")

export function cell(text, look = "number") {
  const made = document.createElement("td")
  made.className = look
  made.textContent = text
  return made
}
