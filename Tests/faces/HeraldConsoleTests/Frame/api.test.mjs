import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { ApiError, closeNews, get, onConnection, onNews, openNews, post, postBytes, whenSignedOut } from '#console/Frame/lib/api.js';

const browsersOwn = globalThis.fetch;
afterEach(() => {
  closeNews();
  delete globalThis.EventSource;
  globalThis.fetch = browsersOwn;
  whenSignedOut(() => {});
});

/** Gives each request this answer, and records it. */
function answering(status, text) {
  const requests = [];
  globalThis.fetch = (path, options) => {
    requests.push({ path, ...options });
    return Promise.resolve(new Response(text, { status }));
  };
  return requests;
}

test("An answer is the server's JSON", async () => {
  const requests = answering(200, '{"state":"done"}');
  assert.deepEqual(await get('/api/find', { user: 'a b', id: '' }), { state: 'done' });
  assert.equal(requests[0].path, '/api/find?user=a+b');
});

test('An action is posted as JSON, a piece of a file as raw bytes', async () => {
  const requests = answering(200, '{}');
  await post('/api/jobs/1/stop');
  await post('/api/drafts', { name: 'a' });
  await postBytes('/api/uploads/1', 'bytes', { offset: 0 });
  assert.deepEqual(requests.map(({ path, method, body }) => [path, method, body]), [
    ['/api/jobs/1/stop', 'POST', '{}'], ['/api/drafts', 'POST', '{"name":"a"}'], ['/api/uploads/1?offset=0', 'POST', 'bytes']]);
});

for (const [status, text, sentence] of [
  [400, '{"error":"since: no moment"}', 'since: no moment'], [500, 'oops', 'The console answered 500.'], [503, '{}', 'The console answered 503.'],
]) {
  test(`A refusal (${status}, ${text}) is an error with the sentence: ${sentence}`, async () => {
    answering(status, text);
    await assert.rejects(get('/api/now'), (error) => error instanceof ApiError && error.message === sentence && error.status === status);
  });
}

test('An absent server is an error of its own', async () => {
  globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
  await assert.rejects(get('/api/now'), (error) => error.status === 0 && error.message === 'The console does not answer. Is it still running?');
});

test('Only status 401 signals that the viewer is signed out', async () => {
  let told = 0;
  whenSignedOut(() => { told += 1; });
  for (const status of [200, 400, 403, 401]) {
    answering(status, '{}');
    await get('/api/now').catch(() => {});
    assert.equal(told, status === 401 ? 1 : 0, String(status));
  }
});

/** The connection that a page opens for news; a test sends its messages. */
function newsFrom() {
  const connections = [];
  globalThis.EventSource = class extends EventTarget {
    static OPEN = 1;

    static CLOSED = 2;

    readyState = 1;

    constructor(path) {
      super();
      this.path = path;
      connections.push(this);
    }

    close() {}

    tell(name, value) {
      this.dispatchEvent(Object.assign(new Event(name), { data: JSON.stringify(value) }));
    }
  };
  openNews();
  return connections[0];
}

for (const name of ['verdict', 'now', 'failures', 'jobs']) {
  test(`A page that listens to ${name} after the news came gets the latest value at once`, () => {
    const server = newsFrom();
    server.tell(name, { n: 1 });
    server.tell(name, { n: 2 });
    const seen = [];
    onNews(name, ({ n }) => seen.push(n));
    assert.deepEqual(seen, [2]);
    server.tell(name, { n: 3 });
    assert.deepEqual(seen, [2, 3]);
  });
}

test('A closed page gets no more news, the others do', () => {
  const server = newsFrom();
  const [left, right] = [[], []];
  const end = onNews('jobs', (value) => left.push(value));
  onNews('jobs', (value) => right.push(value));
  server.tell('jobs', 1);
  end();
  server.tell('jobs', 2);
  assert.deepEqual([left, right], [[1], [1, 2]]);
});

test('After signing in again, earlier news are not shown', () => {
  newsFrom().tell('jobs', ['old']);
  closeNews();
  const server = newsFrom();
  const seen = [];
  onNews('jobs', (value) => seen.push(value));
  assert.deepEqual(seen, []);
  server.tell('jobs', ['new']);
  assert.deepEqual(seen, [['new']]);
});

test('A page distinguishes an absent console from one that answers but sends no news', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const settled = () => new Promise((resolve) => { setImmediate(resolve); });
  const server = newsFrom();
  const seen = [];
  onConnection((state) => seen.push(state));
  server.dispatchEvent(new Event('open'));
  server.readyState = 0;
  globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
  server.dispatchEvent(new Event('error'));
  await settled();
  assert.deepEqual(seen, ['opening', 'open', 'away']);

  server.readyState = 1;
  server.dispatchEvent(new Event('open'));
  answering(200, '{}');
  server.readyState = 0;
  server.dispatchEvent(new Event('error'));
  await settled();
  await settled();
  assert.equal(seen.at(-1), 'open', 'it may be back within a second');
  t.mock.timers.tick(3000);
  assert.equal(seen.at(-1), 'silent');
});
