// Ask the server; what it refuses comes back as its sentence, and what is too much is asked again.
export class Refused extends Error {
  constructor(said, final) {
    super(said)
    this.final = final
  }
}

const LOST = "The server does not answer; this page tries again by itself."

export async function ask(address, options = {}) {
  let answer
  try {
    answer = await fetch(address, options)
  } catch (error) {
    if (error.name == "AbortError") throw error
    throw new Refused(LOST, false)
  }
  if (answer.ok) return answer
  let said = LOST
  try {
    said = (await answer.json()).said ?? LOST
  } catch (_) {
    if (answer.status == 429) said = "Too many people ask just now; this page tries again by itself."
  }
  throw new Refused(said, answer.status < 429)
}

// Ask until there is an answer or a final refusal; `again` says what happens in between.
export async function askUntil(address, options, again) {
  for (let wait = 1; ; wait = Math.min(2 * wait, 15)) {
    try {
      return await ask(address, options)
    } catch (error) {
      if (!(error instanceof Refused) || error.final) throw error
      again(error.message)
      // Not all at once.
      await new Promise(done => setTimeout(done, 1000 * wait * (0.7 + 0.6 * Math.random())))
      if (options.signal?.aborted) throw new DOMException("", "AbortError")
    }
  }
}
