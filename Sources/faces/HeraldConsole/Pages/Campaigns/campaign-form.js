// A new or continued campaign: the audience is uploaded, previewed, and published after a confirmation.

import { ApiError, get, leave, onNews, post, postBytes } from '../../Frame/lib/api.js';
import { command } from '../../Frame/lib/command.js';
import { ask, fail, say } from '../../Frame/lib/dialog.js';
import { facts, h, replace, table } from '../../Frame/lib/dom.js';
import { check, field, keepTyped, mark, revealButton, unmark } from '../../Frame/lib/form.js';
import { count, duration, percent, prose } from '../../Frame/lib/format.js';
import { pause, settled } from '../../Frame/lib/live.js';
import { go } from '../../Frame/lib/place.js';
import { contentFacts, contentTitles } from '../../Frame/lib/vocabulary.js';
import { phones } from './phones.js';
import { concerning, doubtful } from './trouble.js';

function dropDraft(state) {
  if (state.draft) leave(`/api/drafts/${state.draft}/discard`);
  state.draft = null;
}

/** Has the server forget what a page has uploaded. */
export function dropAll(state) {
  dropDraft(state);
  if (state.uploaded) leave(`/api/uploads/${state.uploaded.key}/discard`);
  state.uploaded = null;
  if (state.exclusion) dropAll(state.exclusion);
}

/** The form of a new campaign, or of one that goes on; `adds` people to one that is fully published. */
export async function showForm(main, name, app, adds) {
  const choices = await get('/api/drafts', { campaign: name });
  // The form's objects at the server: the file (another message needs no other upload) and its preview. Objects left
  // behind are discarded there at once; every edit voids the preview.
  const state = { isLeft: false, edits: 0, uploaded: null, draft: null, verdict: null, adds };
  // The file of those who are left out is an upload of its own.
  state.exclusion = { get isLeft() { return state.isLeft; }, uploaded: null, draft: null };
  const result = h('div', {});
  const onHide = () => dropAll(state);
  addEventListener('pagehide', onHide);
  const end = onNews('verdict', (verdict) => { state.verdict = verdict; });
  replace(main, h('h1', {}, adds ? `Add people to campaign ${name}` : name ? `Campaign ${name} goes on` : 'New campaign'),
    name && h('p', {}, adds ? 'Choose a file of the new people: alone, such as the mended invalid lines, or among those that it had. ' : 'Choose the same audience. ',
      'Who was notified is not notified again; texts, push services and topic stay as they are if you leave them empty.'),
    form(name, choices, result, app, state), result);
  return () => {
    state.isLeft = true;
    end();
    removeEventListener('pagehide', onHide);
    dropAll(state);
  };
}

function form(name, choices, result, app, state) {
  const services = choices.pushServices.map((service) => check(`pns-${service}`, service, { name: 'pns', value: service }));
  const submit = h('button', { class: 'primary' }, 'Upload and preview');
  const edited = ({ currentTarget }) => {
    state.edits += 1;
    unmark(currentTarget);
    if (state.draft) replace(result, voided());
    dropDraft(state);
  };
  const columns = h('datalist', { id: 'columns' });
  const showColumns = async ({ currentTarget }) => {
    const edit = currentTarget;
    const file = edit.querySelector('#audience').files[0];
    const head = await headOf(file);
    const reason = noText(head);
    if (reason && file === edit.querySelector('#audience').files[0]) mark(edit, { field: 'audience', reason });
    const names = reason ? [] : columnsOf(decoded(head, edit.querySelector('#encoding').value.trim()));
    replace(columns, names.filter((column) => !column.includes(damage)).map((column) => h('option', { value: column })));
    replace(edit.querySelector('#userColumn-hint'), columnHint(name, names));
  };
  const built = h('form', {
    class: 'card campaign', 'aria-label': 'What the campaign is', oninput: edited, onchange(event) { edited(event); showColumns(event); },
    onsubmit: async (event) => {
      event.preventDefault();
      submit.disabled = true;
      try {
        await preview(event.target, result, app, state);
      } catch (error) {
        if (!state.isLeft) replace(result, mark(event.target, { field: error.field, reason: inForm(error.reason ?? '') }) ? null : fail(new Error(inForm(error.message))));
      }
      submit.disabled = false;
    },
  },
  field('name', 'Name', { required: true, value: name || '', maxlength: 64, title: 'a to z, A to Z, 0 to 9, dot, dash and underscore; no spaces', pattern: '[A-Za-z0-9._\\-]{1,64}', readonly: Boolean(name) }, 'a to z, A to Z, 0 to 9, dot, dash, underscore; no spaces. The same name is always the same campaign.'),
  field('audience', 'Audience', { type: 'file', required: true, accept: '.csv,.tsv,.txt,.jsonl,.ndjson,text/csv' },
    `CSV with a header, or JSON lines; at most ${count(Math.floor(choices.uploadLimit / 1048576))} MiB. herald campaign start takes larger ones.`),
  h('div', { class: 'grid' },
    field('userColumn', 'Column with the users', { placeholder: 'user', list: 'columns' }, columnHint(name, [])), columns,
    field('encoding', 'Encoding', { placeholder: name ? '' : 'UTF-8' }, name ? 'Empty: as at the last start, or UTF-8.' : 'Empty: UTF-8; else it shows how the file may read.'),
    field('delimiter', 'Between columns', { placeholder: 'comma, semicolon, tab, pipe' }, 'Empty: what the first line shows.'),
    field('maxInvalid', 'Allow invalid lines up to', { placeholder: '1%' }, 'With more of them, of 20 lines or more, it asks whether they are left out.')),
  h('div', {}, h('label', { for: 'message' }, 'Message'), h('textarea', { id: 'message', 'aria-describedby': 'message-hint' }),
    h('p', { id: 'message-hint', class: 'muted hint' }, `With fields of the audience, such as {{first_name}}. ${name ? 'Empty: as it was begun.' : 'Empty only for a campaign that there is: as it was begun.'}`)),
  contentFields(name),
  h('fieldset', {}, h('legend', {}, 'Push services'), services),
  exclusionFields(name, choices),
  h('div', {}, h('label', { for: 'topic' }, 'Request topic'), h('select', { id: 'topic', 'aria-describedby': 'topic-hint' }, name && h('option', { value: '' }, 'as before'),
    choices.topics.map((topic) => h('option', { value: topic, selected: !name && topic === choices.topic }, topic))),
    h('p', { id: 'topic-hint', class: 'muted hint' }, 'Leave it, unless your operators name another.')),
  h('div', { class: 'grid' },
    field('rate', 'Recipients a second', { placeholder: '200/s' }, `${name ? 'Empty: as it was begun.' : 'Empty: as fast as outcomes come.'} What piles up while the backend refuses is 30 s of it at most, or 100.`),
    field('ramp', 'Begin with', { placeholder: '1,10,100' }, name ? 'Waits for the outcomes of each step. Empty: as it was begun; none drops that.' : 'Waits for the outcomes of each step.'),
    field('holdAfter', 'Wait for me when published', { placeholder: '100,1000' }, `So many in all; it goes on when you say so on its page.${name ? ' Empty: as it was begun; none drops that.' : ''}`),
    field('pauseIfFailures', 'Pause if more fail than', { placeholder: '5%' }, `After 200 outcomes, or a step.${name ? ' Empty: as it was.' : ''}`),
    field('expiresIn', 'Notify nobody after', { placeholder: '6h' }, 'Hours or days after it begins.')),
  h('div', { class: 'grid' },
    field('at', 'Begin on', { type: 'date' }, `Empty: ${name ? 'as it was begun' : 'at once'}. Until then it can be changed, paused and cancelled.`),
    field('atTime', 'At', { type: 'time' }, `By the clock of ${browserZone()}, where this browser is. This console has to run then, or its audience is kept in Kafka.`)),
  !state.adds && check('detach', detached, { checked: choices.isDetached }),
  // To be said each time.
  name && !state.adds && check('atOnce', atOnce, { 'data-confirms': '' }),
  !state.adds && check('replaceAudience', replacing, { 'data-confirms': '' }),
  h('p', { class: 'toolbar' }, submit, h('a', { class: 'button', href: '/campaigns' }, 'Back')));
  const { files, forget } = keepTyped(built, app.viewer);
  state.forget = forget;
  if (!files) return built;
  return [h('p', { class: 'badge warn', role: 'status' }, 'The form has what you typed before. ', h('button', {
    type: 'button',
    onclick() {
      forget();
      location.reload();
    },
  }, 'Empty it')), built];
}

/** Whom it leaves out; of a campaign that goes on the same as at its start. */
function exclusionFields(name, { campaigns, excludedFiles, excludedCampaigns, excludedDelivered }) {
  const again = excludedFiles.length > 0 ? ` Choose ${excludedFiles.join(' and ')} again.` : '';
  return h('details', { class: 'leave-out', open: excludedFiles.length + excludedCampaigns.length > 0 || Boolean(excludedDelivered) },
    h('summary', {}, 'Leave people out'),
    h('p', { class: 'muted' }, 'They are counted in the preview, and found once: who is delivered something later changes nothing.', name && ' Say the same as at its start.'),
    campaigns.length > 0 && h('fieldset', {}, h('legend', {}, 'Who was delivered by'), h('div', { class: 'choices' }, campaigns.map((campaign) => check(`excluded-${campaign}`, campaign,
      { name: 'excludeCampaigns', value: campaign, checked: excludedCampaigns.includes(campaign) })))),
    h('div', { class: 'grid' },
      field('excludeDelivered', 'Who was delivered any campaign within', { placeholder: '7d', value: excludedDelivered ?? '' }, 'Hours or days before the start.'),
      field('exclude', 'Who is in this file', { type: 'file', accept: '.csv,.tsv,.txt,.jsonl,.ndjson,text/csv' }, `A list as the audience is one.${again}`)));
}

const contentNames = ['title', 'link', 'image', 'badge', 'sound', 'category'];

/** What a notification has beside its message. */
function contentFields(name) {
  const empty = name ? ' Empty: as it was begun.' : '';
  return h('div', { class: 'content' },
    h('div', { class: 'grid' },
      field('title', 'Title', {}, `The line above the message, with fields of the audience too.${empty}`),
      field('link', 'Link', { placeholder: 'https://… or shop://…' }, `Where a tap leads: https: or the app’s own scheme.${empty}`),
      field('image', 'Picture', { placeholder: 'https://…' }, `Its URL. {{picture|}} leaves it out for who has none.${empty}`),
      field('badge', 'Badge', { type: 'number', min: 0, max: 99999, step: 1 }, 'The number on the app’s icon; iOS.'),
      field('sound', 'Sound', { placeholder: 'default' }, 'default, none, or the name of a file in the app.'),
      field('category', 'Category', {}, 'The kind that the app knows: APNs’ category, Android’s channel.')),
    h('div', {}, h('label', { for: 'data' }, 'Data for the app'), h('textarea', { id: 'data', spellcheck: 'false', 'aria-describedby': 'data-hint' }),
      h('p', { id: 'data-hint', class: 'muted hint' }, `A line NAME=TEXT for each, such as order={{order}}.${empty}`)));
}

/** The names and texts in lines NAME=TEXT; undefined without any. */
export function dataOf(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return undefined;
  const data = {};
  for (const line of lines) {
    const end = line.indexOf('=');
    const name = line.slice(0, end).trim();
    if (end < 0) throw new ApiError(`“${line.trim()}” has no =; a line is NAME=TEXT`, 400, 'data');
    if (Object.hasOwn(data, name)) throw new ApiError(`${name} is given twice`, 400, 'data');
    Object.defineProperty(data, name, { value: line.slice(end + 1).trim(), enumerable: true });
  }
  return data;
}

/** The fields beside the message that were filled in; undefined without any. */
export function contentOf(value) {
  const content = {};
  for (const name of contentNames) if (value(name)) content[name] = name === 'badge' ? Number(value(name)) : value(name);
  const data = dataOf(value('data') ?? '');
  if (data) content.data = data;
  return Object.keys(content).length > 0 ? content : undefined;
}

// It stands for bytes that are no character in the encoding.
const damage = '\uFFFD';

/** What the field of the column with the users may hold: the names of the file's columns. */
export function columnHint(name, columns) {
  const known = columns.some((column) => column.includes(damage)) ? ' The file is not UTF-8: the preview shows how it may read.' : columns.length > 0 ? ` The file has: ${columns.slice(0, 20).join(', ')}${columns.length > 20 ? ' …' : ''}.` : '';
  return `${name ? 'Empty: as at the last start.' : 'Empty: user.'}${known}`;
}

const headBytes = 65536;

/** The bytes at a chosen file's beginning; none where it is gone, which the server says. */
async function headOf(file) {
  if (!file) return new Uint8Array();
  return new Uint8Array(await file.slice(0, headBytes).arrayBuffer().catch(() => new ArrayBuffer(0)));
}

/** The encoding of a text that begins with these bytes: UTF-16 by its mark, or by the zeros of plain text. */
export function encodingOf([first, second]) {
  if ((first === 0xff && second === 0xfe) || (first > 0 && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second > 0) ? 'utf-16be' : 'utf-8';
}

/** The text of bytes; empty in an encoding that the browser does not know. */
function decoded(bytes, encoding) {
  try {
    return new TextDecoder(encoding || encodingOf(bytes)).decode(bytes);
  } catch {
    return '';
  }
}

const workbook = 'save its sheet as CSV UTF-8';
const kinds = [['504b0304', `an Excel workbook (xlsx) or another ZIP archive; ${workbook}`], ['d0cf11e0', `an old Excel workbook (xls); ${workbook}`],
  ['1f8b', 'compressed with gzip; unpack it'], ['25504446', 'a PDF; it has to be CSV or JSON lines']];

/** Why a file that begins with these bytes is no audience, before it is uploaded; the server refuses more. Null for text. */
export function noText(bytes) {
  const beginning = Array.from(bytes.slice(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const words = kinds.find(([digits]) => beginning.startsWith(digits))?.[1];
  return words ? `the file is ${words}` : null;
}

/** The names of the columns, or of the first object's members, at a text's beginning. */
export function columnsOf(text) {
  const [line] = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/, 1);
  if (line.startsWith('{')) {
    try {
      return Object.keys(JSON.parse(line));
    } catch {
      return [];
    }
  }
  const separators = [',', ';', '\t', '|'];
  const separator = separators.reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best), ',');
  const cells = line.match(new RegExp(`(?:"(?:[^"]|"")*"|[^"\\${separator}])+`, 'g')) ?? [];
  return cells.map((cell) => cell.trim().replace(/^"(.*)"$/, '$1').replaceAll('""', '"')).filter(Boolean);
}

const browserZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
const detached = 'Keep the audience in Kafka until then: any console that may make changes, or herald campaign run, publishes it';
const atOnce = 'It begins at once, though it was to begin later';

/** The moment that date and time name, in the zone of the browser; nothing without them. */
export function momentOf(date, clock, zone, isAtOnce) {
  if (isAtOnce) return { at: 'now' };
  if (!date && !clock) return {};
  if (!date || !clock) throw new ApiError(`${date ? 'the time of that day' : 'the day of that time'} is missing`, 400, date ? 'atTime' : 'at');
  return { at: `${date}T${clock}`, zone };
}

const replacing = 'Another audience takes the place of the one that this campaign had, which its page says for ever';

/** The command's options in a text, as the form names them. */
export function inForm(text) {
  const names = {
    'give --at a moment to come, or now': 'give a moment to come', '--at now begins at once': `tick “${atOnce}” for at once`, '--at': '“Begin on”', 'leave --detach out': `untick “${detached}”`, '--detach': `“${detached}”`, '--ramp none': 'none under “Begin with”', 'leave out --encoding': 'leave “Encoding” empty', '--encoding': '“Encoding”', '--pause-if-failures': '“Pause if more fail than”', '--hold-after': '“Wait for me when published”', 'or alone, with --add-people, once all are published': 'or alone, with “Add people” on its page, once all are published', 'add --replace-audience, which its status then says for ever': `tick “${replacing}”`, 'add --replace-audience': `tick “${replacing}”`, '--max-invalid': '“Allow invalid lines up to”', '--user-column': '“Column with the users”', '--rate': '“Recipients a second”', '--ramp': '“Begin with”',
  };
  return Object.entries(names).reduce((said, [option, name]) => said.replaceAll(option, name), text)
    .replace(/resume it first with: herald campaign resume \S+; then start it again/, 'preview it again, and it is resumed with the start');
}

function voided() {
  return h('p', { class: 'badge warn', role: 'status' }, 'The preview is void, because the form was edited. Preview it again.');
}

/** The current content of the form. */
function asked(filled, upload, { adds, exclusion }) {
  const value = (id) => filled.querySelector(`#${id}`).value.trim() || undefined;
  const services = [...filled.querySelectorAll('[name=pns]:checked')].map((box) => box.value);
  const fields = { upload, name: value('name'), message: filled.querySelector('#message').value || undefined, content: contentOf(value), pns: services };
  for (const id of ['topic', 'rate', 'ramp', 'holdAfter', 'pauseIfFailures', 'expiresIn', 'userColumn', 'encoding', 'delimiter', 'maxInvalid']) fields[id] = value(id);
  Object.assign(fields, momentOf(value('at'), value('atTime'), browserZone(), filled.querySelector('#atOnce')?.checked));
  if (filled.querySelector('#detach')?.checked) fields.detach = true;
  const campaigns = [...filled.querySelectorAll('[name=excludeCampaigns]:checked')].map((box) => box.value);
  if (campaigns.length > 0) fields.excludeCampaigns = campaigns;
  fields.excludeDelivered = value('excludeDelivered');
  if (exclusion.uploaded) fields.exclude = [exclusion.uploaded.key];
  if (adds) fields.addPeople = true;
  else if (filled.querySelector('#replaceAudience').checked) fields.replaceAudience = true;
  return fields;
}

/**
 * Uploads a file, unless it is there already, and asks for something with its key; null when the page was left.
 * The state has `isLeft`, and keeps what is `uploaded`.
 */
export async function withUpload(file, result, state, request) {
  const isNew = !state.uploaded;
  const upload = await send(file, result, state);
  if (!upload) return null;
  try {
    return await request(upload);
  } catch (error) {
    if (error.status !== 404 || isNew) throw error;
    // The file had to make room for others.
    state.uploaded = null;
    return withUpload(file, result, state, request);
  }
}

async function preview(filled, result, app, state) {
  const { edits } = state;
  const file = filled.querySelector('#audience').files[0];
  const excluded = filled.querySelector('#exclude').files[0];
  if (!excluded) dropAll(state.exclusion);
  const drafted = (upload) => post('/api/drafts', asked(filled, upload, state));
  let answer = await withUpload(file, result, state, (upload) => (excluded ? withUpload(excluded, result, state.exclusion, () => drafted(upload)) : drafted(upload)));
  if (!answer) return;
  state.draft = answer.draft;
  if (state.isLeft) {
    dropAll(state);
    return;
  }
  const bar = progress(result, 'Looking through the audience');
  answer = await settled(answer, ({ draft }) => get(`/api/drafts/${draft}`), {
    isLeft: () => state.isLeft || state.edits !== edits, wait: () => 300,
    draw({ passed, total }) { bar.value = total > 0 ? passed / total : 0; },
  });
  if (!answer) {
    if (!state.isLeft) replace(result, voided());
    return;
  }
  if (answer.state === 'failed') {
    state.draft = null;
    if (answer.readings) {
      encodingChoice(answer.readings, filled.querySelector('#encoding'), result);
      return;
    }
    // A refused file is discarded.
    state.uploaded = null;
    dropAll(state.exclusion);
    throw new ApiError(inForm(answer.error), 409, answer.field);
  }
  if (state.isLeft) return;
  if (state.edits === edits) {
    draw(answer, filled, result, app, state);
    return;
  }
  dropDraft(state);
  replace(result, voided());
}

/** Shows how a file other than UTF-8 may read; the choice is an edit of its form's input, and the form is then sent again. */
export function encodingChoice(readings, input, result) {
  const choose = (encoding) => {
    input.value = encoding;
    input.dispatchEvent(new Event('change', { bubbles: true }));
    input.form.requestSubmit();
  };
  replace(result, h('section', { class: 'card', 'aria-labelledby': 'readings' },
    h('h2', { id: 'readings', tabindex: -1 }, 'The file is not UTF-8. How does it read right?'),
    table({
      caption: 'The same lines in the encodings that they may be in', columns: [{ title: 'Encoding' }, { title: 'Lines' }, { title: 'Choice' }],
      rows: readings.map(({ encoding, lines }) => [encoding, lines.map((line) => h('div', {}, line)),
        h('button', { type: 'button', onclick: () => choose(encoding) }, `Read it as ${encoding}`)]),
    })));
  result.querySelector('h2').focus();
}

function progress(result, title) {
  const bar = h('progress', { max: 1, value: 0, 'aria-label': title });
  replace(result, h('div', { class: 'card' }, h('p', { role: 'status' }, `${title}.`), bar));
  return bar;
}

/** Uploads the file in pieces; returns its key. A lost answer's piece is sent again: the server ignores repetitions. */
async function send(file, result, state) {
  const identity = [file.name, file.size, file.lastModified].join('/');
  if (state.uploaded?.identity === identity) return state.uploaded.key;
  dropAll(state);
  const { upload: key, pieceBytes } = await post('/api/uploads', { name: file.name, bytes: file.size });
  const bar = progress(result, 'Uploading the audience');
  for (let offset = 0; offset < file.size;) {
    if (state.isLeft) {
      post(`/api/uploads/${key}/discard`).catch(() => {});
      return null;
    }
    const piece = file.slice(offset, offset + pieceBytes);
    const answer = await postBytes(`/api/uploads/${key}`, piece, { offset }).catch((error) => {
      if (error.status !== 0) throw error;
      return pause(1000).then(() => postBytes(`/api/uploads/${key}`, piece, { offset }));
    });
    offset = answer.bytes;
    bar.value = offset / file.size;
  }
  state.uploaded = { identity, key };
  return key;
}

/** The consequences, as pairs of texts. */
export function expected(answer) {
  const { preview: found } = answer;
  return [
    ['Read as', found.readAs], ['Lines', found.lineSum ?? count(found.recipients + found.repeats + found.invalid + (found.emptyLines ?? 0))], ['Recipients', count(found.recipients)], ['Repeats', count(found.repeats)], ['Invalid lines', count(found.invalid)],
    ['Empty lines', found.emptyLines > 0 && count(found.emptyLines)],
    ['Notifications', `${count(found.toNotify * found.pns.length)} for ${found.pns.join(' and ')}`], ['Topic', found.topic], ['Class', found.classMeans],
    ['Begins', found.start && prose(found.start.sentence)],
    ['Takes', answer.duration], ['Begins with', found.rampLeft && `${found.rampLeft.map(count).join(', ')}, and waits for their outcomes`],
    ['Waits for you when published', found.holdsLeft && found.holdsLeft.map(count).join(', ')],
    ['Pauses when more fail than', found.pauseIfFailures && `${percent(found.pauseIfFailures)} %`],
    ['Notifies nobody after', found.expiresInSeconds && duration(found.expiresInSeconds * 1000)],
    ['Longest message', `${count(found.longestMessageBytes)} bytes`],
  ].filter(([, text]) => text);
}

function draw(answer, filled, result, app, state) {
  const { preview: found } = answer;
  const heading = h('h2', { id: 'preview', tabindex: -1 }, `What would happen${found.scheduledChanges ? ' (it replaces what was scheduled)' : answer.continues ? ' (the campaign goes on with who is left)' : ''}`);
  replace(result, h('section', { class: 'card', 'aria-labelledby': 'preview' }, heading,
    facts(expected(answer)),
    (answer.standing ?? []).map((sentence) => h('p', {}, prose(`${sentence}.`))),
    found.kept && h('p', { class: 'badge warn' }, `${inForm(found.kept.join(' and '))} of the last start ${found.kept.length === 1 ? 'stays' : 'stay'}.`),
    found.samples ? messages(found) : unseen(answer),
    found.invalid > 0 && table({
      caption: 'The first invalid lines', columns: [{ title: 'Row' }, { title: 'Why' }],
      rows: found.invalidLines.map((line) => [line.row === line.line ? count(line.row) : `${count(line.row)} (line ${count(line.line)})`, line.reason]),
    }),
    found.invalid > 0 && h('p', {}, invalidLines(answer)),
    command(answer.command), trial(answer, app, state), startButton(answer, filled, result, app, state)));
  heading.focus();
}

/** The outcomes of a test, as a table. */
export function trialOutcomes({ outcomes }) {
  return {
    caption: 'What became of the test', columns: [{ title: 'User' }, { title: 'Push service' }, { title: 'Outcome' }, { title: 'Why' }],
    rows: outcomes.map(({ user, pns, outcome, status, detail }) => [user, pns, outcome, [status && `status ${status}`, detail].filter(Boolean).join(': ')]),
    empty: 'No outcome so far.',
  };
}

/** Sends the notification to a few users before the start; who they are is kept in the browser. */
function trial(answer, app, state) {
  if (!app.viewer.canChange || answer.preview.recipients === 0) return null;
  const key = `test users ${app.viewer.name}`;
  const [outcome, problem] = [h('div', { 'aria-live': 'polite' }), h('div', {})];
  const users = field('testUsers', 'Send it first to', { placeholder: 'me,anna', value: localStorage.getItem(key) ?? '' }, 'Users, 20 at most. They get it at once, and the campaign too; opt-outs and quiet hours hold.');
  const input = users.querySelector('input');
  const isGone = () => state.isLeft || state.draft !== answer.draft;
  const button = h('button', { type: 'submit' }, 'Send it to me first');
  return h('form', {
    class: 'trial', 'aria-label': 'Test',
    onsubmit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      replace(problem);
      localStorage.setItem(key, input.value.trim());
      try {
        const begun = await post(`/api/drafts/${answer.draft}/test`, { users: input.value.trim(), hash: answer.hash });
        const trouble = concerning(state.verdict, { pns: answer.preview.pns, open: 1 });
        replace(outcome, h('p', { role: 'status' }, 'It is sent; the outcomes are waited for, a minute at most.'),
          trouble && h('p', { class: 'badge warn' }, `The verdict says: ${trouble.headline}.`));
        const done = await settled(begun, () => get(`/api/drafts/${answer.draft}/test`), { isLeft: isGone });
        if (done) replace(outcome, done.filledBy && h('p', {}, `Who is not in the audience gets the texts of ${done.filledBy}.`), table(trialOutcomes(done)));
      } catch (error) {
        if (!isGone()) replace(problem, fail(new Error(inForm(error.message))));
      }
      button.disabled = false;
    },
  }, users, h('p', { class: 'toolbar' }, button), problem, outcome);
}

/** What looks like a mistake, and the first messages. */
function messages(found) {
  const { warnings = [], samples } = found;
  return [warnings.map((warning) => h('p', { class: 'badge warn' }, warning)), samples.length > 0 && [phones(found), table(firstMessages(samples))]];
}

/** Where the message was not typed, an offer to show the first ones: they tell whether the file is read right. */
function unseen(answer) {
  const problem = h('div', {});
  const part = h('div', {}, h('p', { class: 'badge warn' }, `The first messages are hidden, because ${unseenParts(answer.untyped)} not typed here. Look at them before you start: they show how the file is read.`), problem);
  part.append(revealButton(problem, `/api/drafts/${answer.draft}/messages`, undefined, (_, shown) => replace(part, messages({ ...answer.preview, ...shown }))));
  return part;
}

/** The parts of a notification that keep it hidden, with their verb. */
export function unseenParts(names) {
  const words = names.map((name) => `the ${name.replace('data.', 'data ')}`);
  return `${words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)}` : words[0]} ${words.length > 1 ? 'were' : 'was'}`;
}

/** The table of the first messages, with a column for each part that one of them has. */
export function firstMessages(samples) {
  const parts = samples.map((sample) => new Map(contentFacts(sample)));
  const titles = contentTitles.map(([, title]) => title).filter((title) => parts.some((known) => known.has(title)));
  return {
    caption: 'The first messages', columns: ['User', 'Message', ...titles].map((title) => ({ title })),
    rows: samples.map((sample, index) => [sample.user, sample.message, ...titles.map((title) => parts[index].get(title) ?? '')]),
  };
}

function invalidLines(answer) {
  const { preview: found } = answer;
  return h('a', { class: 'button', href: `/api/drafts/${answer.draft}/invalid`, download: `${found.name}.invalid.csv` },
    found.invalid > answer.keptInvalidLines ? `Save the first ${count(answer.keptInvalidLines)} invalid lines` : 'Save the invalid lines');
}

/** Whether it begins later. */
const isLater = ({ start }) => Boolean(start) && !start.late;

/** What is asked before a start; one that notifies nobody anew is for what else the form says. */
export function question(found, verdict, detaches = false) {
  const { toNotify: left, invalid, pns, isPaused, publisher } = found;
  const over = publisher ? `It takes over from ${publisher}, whose publishing ends. ` : '';
  const resumed = `${isPaused ? 'It is paused: this resumes it first, and what waits is sent. ' : ''}${over}`;
  if (left === 0) return { title: 'Everybody is published. Go on with what the form says?', confirm: 'Go on', body: `${resumed}Nobody is notified again. A new limit of failures holds from now on.` };
  const trouble = concerning(verdict, { pns, open: left });
  const doubt = doubtful(verdict);
  const moment = isLater(found) ? `, from ${found.start.words} on` : '';
  const wait = trouble ? `Now they would wait${trouble.services ? ` on ${trouble.services.join(' and ')}` : ''}, because the verdict says: ${trouble.headline}. ` : doubt ? `The verdict says: ${doubt.headline}. ` : '';
  const lines = invalid === 1 ? 'this invalid line' : `these ${count(invalid)} invalid lines`;
  return {
    title: invalid > 0 ? `Leave ${lines} out and notify the other ${left === 1 ? 'one' : count(left)}${moment}?` : `Notify ${count(left)} ${left === 1 ? 'recipient' : 'recipients'}${moment}?`,
    confirm: `Notify ${count(left)}`, body: `${wait}${resumed}${count(left * pns.length)} notifications go to ${pns.join(' and ')}. ${moment && `Nobody is notified before; ${detaches ? 'a console that may make changes, or herald campaign run,' : 'this console'} has to run then. `}Pause stops the rest at once; what is delivered is delivered.`,
  };
}

function startButton(answer, filled, result, app, state) {
  const { preview: found } = answer;
  if (found.recipients === 0) return h('p', { class: 'error' }, found.nobodyRemains ? inForm(`${found.nobodyRemains}.`) : 'The audience has no recipients.');
  if (!app.viewer.canChange) return h('p', { class: 'muted' }, 'This console is read-only; the command starts it.');
  const start = h('button', {
    type: 'button', class: 'primary',
    onclick: async () => {
      const { body, ...words } = question(found, state.verdict, filled.querySelector('#detach')?.checked);
      const isSure = await ask({ ...words, type: answer.typed, body: [h('p', {}, body), found.invalid > 0 && h('p', {}, invalidLines(answer))] });
      if (!isSure) return;
      try {
        const begun = await post(`/api/drafts/${answer.draft}/start`, {
          typed: answer.typed, hash: answer.hash, leavesOut: found.invalid > 0, resumes: found.isPaused, form: asked(filled, state.uploaded?.key ?? '', state),
        });
        [state.uploaded, state.draft, state.exclusion.uploaded] = [null, null, null];
        state.forget();
        say(`Campaign ${begun.campaign} ${isLater(found) ? 'is scheduled' : answer.continues ? 'goes on' : 'is started'}.`);
        go(`/campaigns/${encodeURIComponent(begun.campaign)}`);
      } catch (error) {
        result.append(fail(error));
      }
    },
  }, found.isPaused ? 'Resume it and go on' : isLater(found) ? 'Schedule it' : answer.continues ? 'Go on with it' : 'Start it');
  return found.refusal ? [h('p', { class: 'error', role: 'alert' }, `${inForm(found.refusal)}, or leave them out.`), start] : start;
}
