import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { ApiError, get, post, postBytes, whenSignedOut } from '#page/lib/api.js';

const browsersOwn = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = browsersOwn;
  whenSignedOut(() => {});
});

/** Answers each request so, and keeps it. */
function answering(status, text) {
  const requests = [];
  globalThis.fetch = (path, options) => {
    requests.push({ path, ...options });
    return Promise.resolve(new Response(text, { status }));
  };
  return requests;
}

test('An answer is what the server says', async () => {
  const requests = answering(200, '{"state":"done"}');
  assert.deepEqual(await get('/api/find', { user: 'a b', id: '' }), { state: 'done' });
  assert.equal(requests[0].path, '/api/find?user=a+b');
});

test('What is done is posted as JSON, a piece of a file as it is', async () => {
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

test('A server that is gone is an error of its own', async () => {
  globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
  await assert.rejects(get('/api/now'), (error) => error.status === 0 && error.message === 'The console does not answer. Is it still running?');
});

test('Whoever is not known any more is told so, nobody else', async () => {
  let told = 0;
  whenSignedOut(() => { told += 1; });
  for (const status of [200, 400, 403, 401]) {
    answering(status, '{}');
    await get('/api/now').catch(() => {});
    assert.equal(told, status === 401 ? 1 : 0, String(status));
  }
});
