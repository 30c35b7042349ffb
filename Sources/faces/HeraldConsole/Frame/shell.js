// The frame of all pages: signing in, navigation, the verdict in one line, and the current page.

import { ApiError, closeNews, get, onConnection, onNews, openNews, post, whenSignedOut } from './lib/api.js';
import { fail, say } from './lib/dialog.js';
import { h, replace } from './lib/dom.js';
import { forgetTyped } from './lib/form.js';
import { current, destination, go, whenMoved } from './lib/place.js';
import { pages } from './pages.js';
import { heading } from '../Pages/Verdict/verdict.js';

const main = document.getElementById('main');
const app = {
  viewer: null,
  get isOperator() { return this.viewer?.role === 'operator'; },
};
let leave = null;
let showing = 0;

function navigation(page) {
  replace(document.getElementById('pages'), h('ul', {}, pages.map(({ name, title }) =>
    h('li', {}, h('a', { href: `/${name}`, 'aria-current': name === page && 'page' }, title)))));
}

function who() {
  const { viewer } = app;
  replace(document.getElementById('who'), viewer && [
    h('span', {}, viewer.name), ' ',
    h('span', { class: 'badge quiet' }, viewer.canChange ? viewer.role : `${viewer.role}, read-only`), ' ',
    h('button', { type: 'button', onclick: signOut }, 'Sign out'),
  ]);
}

async function showPage() {
  const place = current();
  const page = pages.find(({ name }) => name === place.page);
  const mine = ++showing;
  leave?.();
  leave = null;
  navigation(page?.name);
  document.title = page ? `${page.title} · Herald` : 'Herald';
  if (!page) {
    replace(main, h('h1', {}, 'There is no such page'));
    return;
  }
  // Each page gets its own frame: one that is left while it loads fills a detached element.
  const frame = h('div', { class: `page ${page.name || 'verdict'}` });
  replace(main, frame);
  try {
    const end = await page.module.show(frame, place, app);
    if (mine === showing) leave = end ?? null; else end?.();
  } catch (error) {
    if (!(error instanceof ApiError)) console.error(error);
    if (mine === showing && error.status !== 401) replace(frame, h('h1', {}, page.title), fail(error));
  }
}

async function moved() {
  // Who is signed out stays where he signs in.
  if (!app.viewer) return;
  // The previous page may have been scrolled.
  scrollTo(0, 0);
  await showPage();
  main.focus({ preventScroll: true });
}

/** Links within the console change the place without reloading the page. */
function follow(event) {
  const anchor = event.target.closest?.('a[href]');
  const target = anchor ? destination(event, anchor, location.origin) : null;
  if (target === null) return;
  event.preventDefault();
  go(target);
}

function signIn(message) {
  app.viewer = null;
  showing += 1;
  leave?.();
  leave = null;
  closeNews();
  who();
  replace(document.getElementById('pages'));
  document.title = 'Sign in · Herald';
  const token = h('input', { id: 'token', type: 'password', autocomplete: 'current-password', required: true });
  const problem = h('div', {}, message && fail(new Error(message)));
  replace(main, h('h1', {}, 'Sign in'),
    h('p', {}, 'Open the link that ', h('code', {}, 'herald console'), ' printed, or show the token that you were given.'),
    h('form', {
      class: 'card',
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await enter(token.value);
        } catch (error) {
          replace(problem, fail(error));
          token.focus();
        }
      },
    }, h('p', {}, h('label', { for: 'token' }, 'Token'), token), h('p', {}, h('button', { class: 'primary' }, 'Sign in'))), problem);
}

async function enter(key, how = {}) {
  app.viewer = await post('/api/session', { key, ...how });
  begin();
}

/** A foreign page may have led here: the signed-in name never changes without a question. */
async function ask(key) {
  const viewer = await get('/api/session');
  const stay = () => { app.viewer = viewer; begin(); };
  const use = () => enter(key, { link: true, anew: true }).catch((error) => signIn(error.message));
  document.title = 'Sign in · Herald';
  replace(main, h('h1', {}, 'Sign in anew?'),
    h('p', {}, `This browser is signed in as ${viewer.name}. The link that you opened signs it in as who started the console.`),
    h('p', {}, h('button', { type: 'button', class: 'primary', onclick: stay }, `Stay ${viewer.name}`), ' ',
      h('button', { type: 'button', onclick: use }, 'Sign in with the link')));
}

async function signOut() {
  forgetTyped();
  await post('/api/session/end').catch(() => {});
  signIn();
  say('You have signed out.');
}

function begin() {
  who();
  openNews();
  showPage();
}

/** One line for all pages; it disappears with the connection, because old news are no verdict. */
function verdictLine() {
  const line = document.getElementById('verdict-line');
  let latest = null;
  let connection = 'opening';
  const troubles = {
    away: 'The console does not answer',
    silent: 'The console answers and sends no news, perhaps because too many tabs are open: load the page again',
  };
  const show = () => {
    if (!app.viewer) return replace(line);
    if (troubles[connection]) return replace(line, h('span', { class: 'badge bad' }, troubles[connection]));
    if (!latest) return replace(line);
    const kind = { good: 'good', warn: 'warn', bad: 'bad' }[latest.state] ?? 'quiet';
    return replace(line, h('a', { href: '/', class: `badge ${kind}` }, heading(latest)));
  };
  onNews('verdict', (value) => { latest = value; show(); });
  onConnection((value) => { connection = value; show(); });
}

async function start() {
  whenMoved(moved);
  whenSignedOut((isOrder) => {
    if (!app.viewer) return;
    const question = document.querySelector('dialog[open]');
    question?.close();
    signIn(`Sign in again: the console does not know this browser any more.${isOrder || question ? ' What you were about to do is not done: do it again then.' : ''}`);
  });
  document.addEventListener('click', follow);
  // A link that is opened in its own tab loads nothing anew.
  addEventListener('hashchange', () => { if (location.hash.startsWith('#key=')) location.reload(); });
  verdictLine();
  const key = location.hash.startsWith('#key=') ? location.hash.slice('#key='.length) : null;
  // The key must not stay in the history or be sent on.
  if (key) history.replaceState(null, '', location.pathname + location.search);
  try {
    if (key) {
      await enter(key, { link: true }).catch((error) => {
        if (error.status !== 409) throw error;
        return ask(key);
      });
    } else {
      app.viewer = await get('/api/session');
      begin();
    }
  } catch (error) {
    signIn(key || error.status !== 401 ? error.message : undefined);
  }
}

start();
