// Live content: polling while the tab is visible, and redrawing without losing the keyboard focus.

/** Waits. */
export function pause(milliseconds) {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
}

/**
 * Calls the function repeatedly, with a pause between, while the tab is visible; returns a function that ends it.
 * Errors go to onError, and the polling goes on.
 */
export function repeat(milliseconds, body, onError) {
  let isOver = false;
  (async () => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- the function returned below ends it
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
 * Polls and draws until an answer says that the work has ended; null when the caller is gone.
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

/** Draws into an element when the value has changed; the focused element gets the focus again afterwards. */
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
