// Where one is: every page and filter is in the address, so that it can be sent to somebody else.

let onMove = () => {};

/** Called after each move to another address. */
export function whenMoved(handler) {
  onMove = handler;
  addEventListener('popstate', () => onMove());
}

/** A segment as it was meant; as it stands where a percent sign encodes nothing. */
function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The place that an address means: the page's name, the segments behind it, and the query. */
export function placeOf({ pathname, search }) {
  const segments = pathname.split('/').filter((segment) => segment !== '').map(decoded);
  return { path: pathname, page: segments[0] ?? '', rest: segments.slice(1), query: new URLSearchParams(search) };
}

/** The place as it is now. */
export function current() {
  return placeOf(location);
}

/** The address of a place, for links; members of the query that say nothing are left out. */
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

/** The address with some parameters changed; null takes one out. */
export function changed({ pathname, search }, changes) {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') query.delete(name); else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? pathname : `${pathname}?${text}`;
}

/** Changes parameters of this place; the page is shown anew unless it does that itself. */
export function setQuery(changes, { stay = false } = {}) {
  const target = changed(location, changes);
  if (target === location.pathname + location.search) return;
  if (stay) history.replaceState(null, '', target);
  else {
    history.pushState(null, '', target);
    onMove();
  }
}

/** Where a click leads within the console; null when it is the browser's: another window, another site, a file. */
export function destination(click, anchor, origin) {
  if (click.defaultPrevented || click.button !== 0 || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return null;
  const url = new URL(anchor.href);
  if (url.origin !== origin || anchor.target || anchor.hasAttribute('download') || url.pathname.startsWith('/api/') || url.hash) return null;
  return url.pathname + url.search;
}
