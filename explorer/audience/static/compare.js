// Two maps, one over the other, and what all maps say of an area.
import { Areas } from "./areas.js"
import { linked } from "./link.js"
import { cell, number } from "./numbers.js"
import { Stage } from "./stage.js"

const setting = JSON.parse(document.documentElement.dataset.setting)
const [first, second] = setting.maps
const others = setting.all.filter(({ key }) => key != first.key && key != second.key)

// A difference is of two maps; further ones are asked on their own.
const areas = new Areas([first.key, second.key], (answers, at) =>
  setting.all.map(({ key }) => {
    const found = answers?.maps[key]?.[at]
    const made = cell(found ? number(found.value) : "…")
    if (found) {
      const range = document.createElement("small")
      range.textContent = `${number(found.low)} to ${number(found.high)}`
      made.append(document.createElement("br"), range)
    }
    return made
  }))

const layers = [{ key: first.key, with: second.key }]
if (!setting.apart) layers.push({ key: second.key, with: first.key })
const stage = new Stage(layers, first, areas)
areas.at(stage)
areas.others = others.map(({ key }) => key)
stage.choose("move")

const swipe = document.getElementById("swipe")
const cut = () => {
  const [, over] = stage.layers
  if (over) over.box.style.clipPath = `inset(0 0 0 ${swipe.value}%)`
  document.querySelector("#map").style.setProperty("--swipe", `${swipe?.value ?? 0}%`)
}
swipe?.addEventListener("input", cut)
cut()
linked(stage, areas)
document.querySelector(".choice button").hidden = true
for (const menu of document.querySelectorAll(".choice select"))
  menu.addEventListener("change", () => menu.form.submit())
