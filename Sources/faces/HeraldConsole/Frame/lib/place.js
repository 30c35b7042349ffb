// The current place: page and filters are in the address, so that it can be sent to another person.

let onMove = () => {};

/** Called after each move to another address. */
export function whenMoved(handler) {
  onMove = handler;
  addEventListener('popstate', () => onMove());
}

/** A decoded segment; unchanged where a percent sign encodes nothing. */
function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The place of an address: the page's name, the segments after it, and the query. */
export function placeOf({ pathname, search }) {
  const segments = pathname.split('/').filter((segment) => segment !== '').map(decoded);
  return { path: pathname, page: segments[0] ?? '', rest: segments.slice(1), query: new URLSearchParams(search) };
}

/** The current place. */
export function current() {
  return placeOf(location);
}

/** The address of a place, for links; empty query members are omitted. */
export function link(path, query) {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const search = new URLSearchParams(entries).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** Goes there. */
export function go(path, query) {
  const target = link(path, query);
  if (target === location.pathname + location.search) return;
  history.pushState(null, '', target);
  onMove();
}

/** The address with some parameters changed; null removes one. */
export function changed({ pathname, search }, changes) {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') query.delete(name); else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? pathname : `${pathname}?${text}`;
}

/** Changes parameters of this place; the page is shown again unless it updates itself. */
export function setQuery(changes, { stay = false } = {}) {
  const target = changed(location, changes);
  if (target === location.pathname + location.search) return;
  if (stay) history.replaceState(null, '', target);
  else {
    history.pushState(null, '', target);
    onMove();
  }
}

/** The target of a click within the console; null for the browser's own: another window, another site, a file. */
export function destination(click, anchor, origin) {
  if (click.defaultPrevented || click.button !== 0 || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return null;
  const url = new URL(anchor.href);
  if (url.origin !== origin || anchor.target || anchor.hasAttribute('download') || url.pathname.startsWith('/api/') || url.hash) return null;
  return url.pathname + url.search;
}
