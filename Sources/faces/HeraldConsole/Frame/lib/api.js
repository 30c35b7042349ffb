// The console's interface: requests, and the news that the server pushes.

import { link } from './place.js';

/** A refusal in the server's own words. */
export class ApiError extends Error {
  constructor(message, status, field) {
    super(field ? `${field}: ${message}` : message);
    this.status = status;
    // The field of the form that is to be mended, and what is wrong with it.
    this.field = field;
    this.reason = message;
  }
}

let onSignedOut = () => {};

/** Called when the server does not know this tab (any more), and with whether it was asked to change something. */
export function whenSignedOut(handler) {
  onSignedOut = handler;
}

async function answered(request, read = (response) => response.json().catch(() => null), isOrder = false) {
  let response;
  try {
    response = await request;
  } catch {
    throw new ApiError('The console does not answer. Is it still running?', 0);
  }
  if (response.ok) return read(response);
  const body = await response.json().catch(() => null);
  if (response.status === 401) onSignedOut(isOrder);
  throw new ApiError(body?.error ?? `The console answered ${response.status}.`, response.status, body?.field);
}

/** Reads; empty members of the query object are omitted. */
export function get(path, query) {
  return answered(fetch(link(path, query), { credentials: 'same-origin' }));
}

/** Reads a text file of the page. */
export async function text(path) {
  const response = await fetch(path).catch(() => null);
  if (!response?.ok) throw new ApiError('The console does not answer. Is it still running?', response?.status ?? 0);
  return response.text();
}

/** Sends a POST request. */
export function post(path, object, query) {
  return answered(fetch(link(path, query), {
    method: 'POST', credentials: 'same-origin', body: JSON.stringify(object ?? {}), headers: { 'Content-Type': 'application/json' },
  }), undefined, true);
}

/** Saves the file that a POST request is answered with, under the name that the server gives it. */
export async function save(path, object) {
  const file = await answered(fetch(path, {
    method: 'POST', credentials: 'same-origin', body: JSON.stringify(object ?? {}), headers: { 'Content-Type': 'application/json' },
  }), async (response) => ({ name: /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition'))?.[1], blob: await response.blob() }));
  const url = URL.createObjectURL(file.blob);
  Object.assign(document.createElement('a'), { href: url, download: file.name }).click();
  URL.revokeObjectURL(url);
}

/** Sends a message while the page is being left, without waiting for an answer. */
export function leave(path) {
  fetch(path, {
    method: 'POST', credentials: 'same-origin', body: '{}', headers: { 'Content-Type': 'application/json' }, keepalive: true,
  }).catch(() => {});
}

/** Sends a piece of a file. */
export function postBytes(path, bytes, query) {
  return answered(fetch(link(path, query), {
    method: 'POST', credentials: 'same-origin', body: bytes, headers: { 'Content-Type': 'application/octet-stream' },
  }));
}

// The server sends each name's value once when the connection opens, perhaps before a page asks for it: all names are
// listened to from the start, and the latest value of each is kept.
const handlers = new Map(['verdict', 'now', 'failures', 'jobs'].map((name) => [name, new Set()]));
const latest = new Map();
const stateHandlers = new Set();
let source = null;
// 'opening'; 'open'; 'away': the console does not answer; 'silent': it answers but sends no news.
let connection = 'opening';

function setConnection(value) {
  if (connection === value) return;
  connection = value;
  for (const handler of stateHandlers) handler(value);
}

/** A request to the console distinguishes an ended stream from an absent console. */
function findOut() {
  const mine = source;
  const isOver = () => source?.readyState === EventSource.OPEN || (source !== null && source !== mine);
  get('/api/session').then(
    // A proxy may end long-lived streams: the browser opens the next one within a second.
    () => setTimeout(() => { if (!isOver()) setConnection('silent'); }, 3000),
    (error) => { if (error.status !== 401 && !isOver()) setConnection(error.status === 0 ? 'away' : 'silent'); });
}

function listen(name) {
  source.addEventListener(name, (event) => {
    const value = JSON.parse(event.data);
    latest.set(name, value);
    for (const handler of handlers.get(name)) handler(value);
  });
}

/** Starts receiving news; the browser reconnects by itself. */
export function openNews() {
  if (source) return;
  source = new EventSource('/api/news');
  source.addEventListener('open', () => setConnection('open'));
  source.addEventListener('error', () => {
    findOut();
    if (source?.readyState !== EventSource.CLOSED) return;
    // The server has refused: not signed in, or too many tabs.
    source.close();
    source = null;
    get('/api/session').then(() => setTimeout(openNews, 3000), (error) => { if (error.status !== 401) setTimeout(openNews, 3000); });
  });
  for (const name of handlers.keys()) listen(name);
}

/** Stops receiving news. */
export function closeNews() {
  source?.close();
  source = null;
  latest.clear();
  setConnection('opening');
}

/** Calls the handler with each value of that name, the latest at once; returns a function that ends it. */
export function onNews(name, handler) {
  handlers.get(name).add(handler);
  if (latest.has(name)) handler(latest.get(name));
  return () => handlers.get(name).delete(handler);
}

/** Calls the handler with 'opening', 'open', 'away' or 'silent', now and at changes; returns a function that ends it. */
export function onConnection(handler) {
  stateHandlers.add(handler);
  handler(connection);
  return () => stateHandlers.delete(handler);
}
