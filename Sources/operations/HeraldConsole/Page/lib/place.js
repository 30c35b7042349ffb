// Where one is: every page and filter is in the address, so that it can be sent to somebody else.

let onMove = () => {};

/** Called after each move to another address. */
export function whenMoved(handler) {
  onMove = handler;
  addEventListener('popstate', () => onMove());
}

/** The place as it is now: the page's name, the segments behind it, and the query. */
export function current() {
  const segments = location.pathname.split('/').filter((segment) => segment !== '').map(decodeURIComponent);
  return { path: location.pathname, page: segments[0] ?? '', rest: segments.slice(1), query: new URLSearchParams(location.search) };
}

function text(path, query) {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const search = new URLSearchParams(entries).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** The address of a place, for links. */
export const link = text;

/** Goes there. */
export function go(path, query) {
  const target = text(path, query);
  if (target === location.pathname + location.search) return;
  history.pushState(null, '', target);
  onMove();
}

/** Changes parameters of this place (null takes one out); the page is shown anew unless it does that itself. */
export function setQuery(changes, { stay = false } = {}) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') query.delete(name); else query.set(name, value);
  }
  const search = query.toString();
  const target = location.pathname + (search === '' ? '' : `?${search}`);
  if (target === location.pathname + location.search) return;
  if (stay) history.replaceState(null, '', target);
  else {
    history.pushState(null, '', target);
    onMove();
  }
}
