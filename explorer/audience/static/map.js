// The page of one map.
import { Areas } from "./areas.js"
import { ask } from "./ask.js"
import { linked } from "./link.js"
import { cell, number } from "./numbers.js"
import { Stage } from "./stage.js"

const setting = JSON.parse(document.documentElement.dataset.setting)
const [shown] = setting.maps

const areas = new Areas([shown.key], (answers, at) => {
  const found = answers?.maps[shown.key]?.[at]
  const about = found && !found.exact ? "≈ " : ""
  return [
    cell(found ? number(found.value) : "…"),
    cell(found ? `${about}${number(found.low)} to ${number(found.high)}` : "…"),
  ]
})
const stage = new Stage([{ key: shown.key }], shown, areas)
areas.at(stage)
stage.choose("move")

const leaf = document.querySelector(".leaf")
stage.onlook = async at => {
  if (!leaf) return
  const said = leaf.querySelector(".said"), body = leaf.querySelector("tbody")
  try {
    const found = await (await ask(`/leaf/${shown.key}?at=${at.map(each => each.toFixed(2)).join()}`)).json()
    said.textContent = found.said
    body.replaceChildren(...found.facts.map(([name, value]) => {
      const row = document.createElement("tr"), head = document.createElement("th")
      head.scope = "row"
      head.textContent = name
      row.append(head, cell(value))
      return row
    }))
    areas.leaf = found.box
  } catch (error) {
    said.textContent = error.message
    body.replaceChildren()
    areas.leaf = null
  }
  areas.draw()
}

// What the publisher asked stands there until a visitor asks something.
if (!linked(stage, areas) && !setting.embedded) {
  areas.list = [...shown.own]
  areas.changed()
}
