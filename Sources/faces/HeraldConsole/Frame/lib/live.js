// What changes by itself: asking again while somebody looks, and drawing anew without losing the keyboard's place.

/** Waits. */
export function pause(milliseconds) {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
}

/**
 * Calls the function again and again, with a pause between, while the tab is visible; the function it returns ends that.
 * What it throws goes to onError, and it is called again.
 */
export function repeat(milliseconds, body, onError) {
  let isOver = false;
  (async () => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- what is returned below ends it
    while (!isOver) {
      if (!document.hidden) {
        try {
          await body();
        } catch (error) {
          if (!isOver) onError(error);
        }
      }
      await pause(milliseconds);
    }
  })();
  return () => { isOver = true; };
}

/**
 * Asks again until an answer is no more one of work that goes on, which is drawn; null when nobody waits for it any more.
 */
export async function settled(answer, again, { isLeft, draw = () => {}, wait = () => 400 }) {
  let latest = answer;
  for (let turn = 0; ['reading', 'planning'].includes(latest.state); turn += 1) {
    draw(latest, turn);
    await pause(wait(turn));
    if (isLeft()) return null;
    latest = await again(latest);
  }
  return latest;
}

function mark(element) {
  return element.id || element.getAttribute('href') || element.getAttribute('aria-label') || element.textContent;
}

/** Draws into an element when the value is another than before; what has the focus has it again afterwards. */
export function redraw(element, value, build) {
  const text = JSON.stringify(value);
  if (element.drawn === text) return;
  element.drawn = text;
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const [name, what] = focused ? [focused.tagName, mark(focused)] : [];
  const open = new Set([...element.querySelectorAll('details[open]')].map((details) => details.id));
  element.replaceChildren(...[build()].flat(Infinity).filter(Boolean));
  for (const details of element.querySelectorAll('details')) if (details.id && open.has(details.id)) details.open = true;
  if (focused) [...element.querySelectorAll(name)].find((candidate) => mark(candidate) === what)?.focus({ preventScroll: true });
}
