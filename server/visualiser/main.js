// The page: state, forms, tables and the view that is chosen.
import {Problem, addressOf, getDocument, describe} from './api.js';
import {coloursOf} from './colours.js';
import {differenceOf, refusalOf} from './difference.js';
import {h, later} from './dom.js';
import {showExamples} from './examples.js';
import {createForm} from './form.js';
import {legalInstead, withinRules} from './legal.js';
import {byteText} from './numbers.js';
import {beginningsOf, parameterOf} from './schema.js';
import {createStage} from './stage.js';
import {SHARED, createStore} from './state.js';
import {loadTable} from './tables.js';
import {createTakeaway} from './takeaway.js';
import {createTheme} from './theme.js';
import {createTools} from './tools.js';
import {VIEWS, viewsFor} from './views.js';

const START = 'sinusoidal'; // where a visit begins, if there is such a scheme
const SIDES = ['left', 'right'];
const byId = (id) => document.getElementById(id);
const forms = {};
let schemes, store, tools, takeaway, theme, stage;
let loading = null; // the AbortController of what is under way
let overtaken = false; // whether a slider has gone on meanwhile
let sliding = null; // {side, name} of the slider that moved last, if nothing else has changed since
let tables = []; // what is shown
let drawings = 0; // under way

const schemeOf = (name) => schemes.find((scheme) => scheme.name === name);

// The live line above the view: '', 'told' or 'failed'.
function say(text, kind = '') {
  byId('message').textContent = text;
  byId('message').className = kind;
}

// ---- settings ----

// The settings that a scheme starts with: the example with larger sizes, or the example if those are refused.
async function begin(name) {
  const {comfortable, example} = beginningsOf(schemeOf(name));
  const settings = {scheme: name, parameters: comfortable};
  return describe(settings).then(() => settings, () => ({scheme: name, parameters: example}));
}

// Choosing another scheme keeps the view and the training length, but not the window within the tensor.
const placeless = (options) => (options.mark ? {mark: options.mark} : {});

async function chooseScheme(side, name) {
  const settings = await begin(name);
  store.update({[side]: settings, options: placeless(store.get().options)}, 'settings');
}

function showSettings(state) {
  for (const side of SIDES) {
    const settings = state[side];
    byId(side).hidden = !settings;
    if (!settings) continue;
    const known = schemeOf(settings.scheme);
    byId(`${side}-scheme`).value = known ? settings.scheme : '';
    if (known) forms[side].show(known, settings);
  }
  byId('left-title').textContent = state.right ? 'A' : 'Settings';
  byId('compare').setAttribute('aria-pressed', String(Boolean(state.right)));
  document.body.classList.toggle('comparing', Boolean(state.right));
}

// ---- loading ----

function showProgress(parts) {
  const received = parts.reduce((sum, part) => sum + part.received, 0);
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  byId('progress').value = total ? received / total : 0;
  byId('loaded').textContent = total ? `${byteText(received)} of ${byteText(total)}` : '';
}

function showReplies() {
  byId('replies').replaceChildren(...tables.map((table, i) => {
    const {cache, timing, bytes, milliseconds} = table.reply;
    const address = addressOf(table.settings, {tensor: table.tensor.name});
    return h('p', {class: 'reply'}, tables.length > 1 ? `${'AB'[i]}: ` : '', h('code', {}, `GET ${address}`), ` ${table.dtype} [${table.tensor.shape.join(', ')}], ${byteText(bytes)} in ${milliseconds.toFixed(0)} ms, cache ${cache}${timing && `, ${timing.replace(/;dur=/g, ' ').replace(/(\d),/g, '$1 ms,')} ms`}`);
  }));
}

// Load the tables of the state and draw them. Loading that is in progress is aborted.
async function load(state) {
  loading?.abort();
  const controller = new AbortController();
  loading = controller;
  overtaken = false;
  const {signal} = controller;
  const sides = SIDES.filter((side) => state[side]);
  const parts = sides.map(() => ({received: 0, total: 0}));
  const reveal = setTimeout(() => document.body.classList.add('loading'), 80);
  say('Loading …');
  showProgress(parts);
  try {
    const results = await Promise.allSettled(sides.map((side, i) => {
      const scheme = schemeOf(state[side].scheme);
      if (!scheme) throw new Problem({detail: `There is no scheme ${state[side].scheme}; choose one.`}, 404);
      return loadTable(scheme, state[side], {...state.options, signal, progress(received, total) {
        parts[i] = {received, total};
        showProgress(parts);
      }}).then((table) => Object.assign(table, {side}));
    }));
    if (loading !== controller || (await settle(state, sides, results, signal))) return;
    if (loading !== controller) return;
    await show(sides, results);
  } catch (error) {
    if (loading === controller) say(...(error.name === 'AbortError' ? ['Cancelled.', 'told'] : [error.message, 'failed']));
  } finally {
    clearTimeout(reveal);
    if (loading === controller) {
      loading = null;
      if (overtaken) slide(store.get());
      else rest();
    }
  }
}

// Put a slider whose value is refused where the service takes it; whether that has been done.
async function settle(state, sides, results, signal) {
  const i = sides.indexOf(sliding?.side);
  if (!(results[i]?.reason instanceof Problem) || !tables[i]) return false;
  const {side, name} = sliding, settings = state[side];
  const before = tables[i].settings.parameters[name] ?? tables[i].effective[name];
  const value = await legalInstead(settings, parameterOf(schemeOf(settings.scheme), name), before, signal);
  if (value === null || store.get()[side] !== settings) return value !== null;
  store.update({[side]: {...settings, parameters: {...settings.parameters, [name]: value}}}, 'slide', {burst: `${side}.${name}`, held: true});
  return true;
}

// Nothing is under way any more, unless something is.
function rest() {
  if (!loading && drawings === 0) document.body.classList.remove('loading', 'busy');
}

function show(sides, results) {
  const failures = results.map(({reason}) => reason);
  sides.forEach((side, i) => forms[side].complain(failures[i] instanceof Problem ? failures[i] : null));
  const failure = failures.find(Boolean);
  if (failure) {
    if (!(failure instanceof Problem) && failure.name !== 'AbortError') console.error(failure);
    say(...(failure.name === 'AbortError' ? ['Cancelled.', 'told'] : [failure.message, 'failed']));
    document.body.classList.add('stale');
    return;
  }
  tables = results.map(({value}) => value);
  document.body.classList.remove('stale');
  showReplies();
  return draw();
}

// ---- the view ----

function showTabs(view, possible) {
  byId('tabs').replaceChildren(...possible.map((each) => h('button', {type: 'button', 'aria-pressed': String(each === view), onclick: () => store.update({view: each.name})}, each.title)));
}

// Draw the tables; resolves when the picture is complete, or overtaken by another.
async function draw() {
  if (tables.length === 0) return;
  const state = store.get();
  const [{tensor, scheme}] = tables;
  const possible = viewsFor(tensor, scheme);
  const view = possible.find(({name}) => name === state.view) ?? possible[0];
  showTabs(view, possible);
  tools.show(tables, state);
  takeaway.show(tables);
  document.body.classList.add('busy');
  drawings++;
  try {
    const complete = await stage.draw(view, (signal, until) => contextOf(state, signal, until), () => { byId('readout').textContent = ''; });
    if (complete) say('');
  } finally {
    drawings--;
    rest();
  }
}

function contextOf(state, signal, until) {
  const mark = Number(state.options.mark || NaN);
  const refusal = tables[1] ? refusalOf(...tables) : '';
  return {
    tables,
    difference: tables[1] && !refusal ? differenceOf(tables[0], tables[1]) : null,
    refusal,
    options: {...state.options},
    mark: Number.isNaN(mark) ? null : mark,
    colours: coloursOf(theme.current()),
    signal,
    until,
    width: byId('view').clientWidth,
    hover: (text) => { byId('readout').textContent = text; },
    update: (patch, {quiet = false, view = store.get().view} = {}) => {
      const now = store.get();
      if (quiet && placeOf(now) !== placeOf(state)) return; // the next table is loading: its address is not this drawing's
      store.update({view, options: {...now.options, ...patch}}, quiet ? 'quiet' : 'view');
    },
    load: (side, options) => loadTable(tables[side].scheme, tables[side].settings, {described: tables[side].described, ...options, signal}),
  };
}

// ---- life ----

const placeOf = ({left, right, options}) => JSON.stringify([left, right, SHARED.filter((name) => name !== 'mark').map((name) => options[name] || '')]);
let place = '';

const loadSoon = later(load, 120);
const catchUp = later(() => { if (overtaken) load(store.get()); }, 120);

// A slider moves: load at once. While that is in progress, remember the latest value and load it next.
function slide(state) {
  if (!loading) return load(state);
  overtaken = true;
  catchUp();
}

function cancel() {
  overtaken = false;
  loading?.abort();
  if (stage.cancel()) say('Cancelled.', 'told');
}

function changed(state, kind) {
  if (kind !== 'slide') sliding = null;
  if (!state.left || (schemeOf(state.left.scheme) && Object.keys(state.left.parameters).length === 0 && !['settings', 'adjust', 'slide'].includes(kind))) return void start(state);
  showSettings(state);
  if (placeOf(state) === place) return void draw();
  place = placeOf(state);
  document.body.classList.add('busy');
  if (kind === 'adjust') loadSoon(state);
  else if (kind === 'slide') slide(state);
  else load(state);
}

// An edit of the form.
function change(side, parameters, {kind, name, held}) {
  const last = store.get()[side];
  const settings = {...last, parameters};
  sliding = kind === 'slide' ? {side, name} : null;
  if (sliding) settings.parameters = {...parameters, [name]: withinRules(settings, name, last.parameters[name])};
  store.update({[side]: settings}, kind, {burst: `${side}.${name}`, held});
}

function connect() {
  for (const side of SIDES) {
    byId(`${side}-scheme`).append(...schemes.map(({name, title}) => h('option', {value: name, title}, name)));
    byId(`${side}-scheme`).addEventListener('change', ({target}) => chooseScheme(side, target.value));
    forms[side] = createForm(side, (parameters, edit) => change(side, parameters, edit));
    byId(side).append(forms[side].element);
  }
  byId('compare').addEventListener('click', () => {
    const {left, right} = store.get();
    store.update({right: right ? null : {...left, parameters: {...left.parameters}}}, 'settings');
  });
  showExamples(byId('examples'), (address) => store.visit(address));
  byId('cancel').addEventListener('click', cancel);
  addEventListener('keydown', ({key}) => { if (key === 'Escape') cancel(); });
  const redraw = later(draw, 60);
  let width = byId('view').clientWidth;
  new ResizeObserver(([{contentRect}]) => {
    if (Math.round(contentRect.width) !== Math.round(width)) redraw();
    width = contentRect.width;
  }).observe(byId('view'));
}

// Settings for an address that names none, or a scheme alone.
async function start(state) {
  const named = schemeOf(state.left?.scheme) ?? schemeOf(START) ?? schemes[0];
  store.update({left: await begin(named.name)}, 'initial');
}

async function main() {
  stage = createStage(byId('view'));
  theme = createTheme(byId('theme'), draw);
  say('Loading …');
  ({schemes} = await getDocument('/v1/schemes'));
  store = createStore(changed);
  tools = createTools(byId('tools'), (patch) => store.update({options: {...store.get().options, ...patch}}));
  takeaway = createTakeaway(byId('takeaway'));
  connect();
  changed(store.get(), 'initial');
}

main().catch((error) => say(error.message, 'failed'));
