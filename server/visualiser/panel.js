// The settings of both sides: which scheme, its form, Reset; and A and B in turn where there is little room.
import {describe} from './api.js';
import {h} from './dom.js';
import {Form} from './form.js';
import {withinRules} from './legal.js';
import {completed, steers} from './prefill.js';
import {beginningsOf} from './schema.js';

const SIDES = ['left', 'right'];
const byId = (id) => document.getElementById(id);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

// The settings that a scheme starts with: the example with larger sizes, or the example if those are refused.
export async function begin(scheme) {
  const {comfortable, example} = beginningsOf(scheme);
  const settings = {scheme: scheme.name, parameters: comfortable};
  return describe(settings).then(() => settings, () => ({scheme: scheme.name, parameters: example}));
}

// The schemes by their families, as the groups of a <select>.
function groupsOf(schemes) {
  const families = [...new Set(schemes.map(({family}) => family))];
  return families.map((family) => h('optgroup', {label: capital(family)},
    ...schemes.filter((scheme) => scheme.family === family).map(({name, title}) => h('option', {value: name}, title))));
}

// Choosing another scheme keeps the view and the training length, but not the window within the tensor.
const placeless = (options) => (options.mark ? {mark: options.mark} : {});

// show(state, kind) draws the forms after a change of that kind; complain(side, problem) puts a problem, or null, beside
// its fields; slid() is {side, name} of the slider that moved last, or null if something else has changed since.
export function createPanel(schemes, store) {
  const forms = {};
  let slid = null;
  const schemeOf = (name) => schemes.find((scheme) => scheme.name === name);

  async function start(side, name) {
    const settings = await begin(schemeOf(name));
    store.update({[side]: settings, options: placeless(store.get().options)}, 'settings');
  }

  function settle(side, parameters, {kind, name, held}) {
    const last = store.get()[side];
    const settings = {...last, parameters};
    slid = kind === 'slide' ? {side, name} : null;
    if (slid) settings.parameters = {...parameters, [name]: withinRules(settings, name, last.parameters[name])};
    store.update({[side]: settings}, kind, {burst: `${side}.${name}`, held});
  }

  async function edit(side, parameters, change) {
    const asked = store.get()[side];
    const scheme = schemeOf(asked.scheme);
    if (!steers(scheme, change.name)) return settle(side, parameters, change);
    const {parameters: working, added} = await completed(scheme, parameters, change.name);
    if (store.get()[side] !== asked) return; // something else was chosen meanwhile
    settle(side, working, change);
    forms[side].goTo(added[0]);
  }

  function choose(side) {
    document.body.dataset.side = side;
    for (const each of SIDES) byId(`only-${each}`).setAttribute('aria-pressed', String(each === side));
  }

  for (const side of SIDES) {
    byId(`${side}-scheme`).append(...groupsOf(schemes));
    byId(`${side}-scheme`).addEventListener('change', ({target}) => start(side, target.value));
    byId(`${side}-reset`).addEventListener('click', () => start(side, store.get()[side].scheme));
    byId(`only-${side}`).addEventListener('click', () => choose(side));
    forms[side] = new Form(side, (parameters, change) => edit(side, parameters, change));
    byId(side).append(forms[side].element);
  }
  byId('compare').addEventListener('click', () => {
    const {left, right} = store.get();
    choose(right ? 'left' : 'right');
    store.update({right: right ? null : {...left, parameters: {...left.parameters}}}, 'settings');
  });
  choose('left');

  return {
    complain: (side, problem) => forms[side].complain(problem),
    slid: () => slid,
    show(state, kind) {
      if (kind !== 'slide') slid = null;
      for (const side of SIDES) {
        const settings = state[side];
        byId(side).hidden = !settings;
        if (!settings) continue;
        const known = schemeOf(settings.scheme);
        byId(`${side}-scheme`).value = known ? settings.scheme : '';
        const other = side === 'right' && schemeOf(state.left?.scheme);
        if (known) forms[side].show(known, settings, other ? {scheme: other, parameters: state.left.parameters} : null);
      }
      byId('left-title').textContent = state.right ? 'A' : 'Settings';
      byId('compare').setAttribute('aria-pressed', String(Boolean(state.right)));
      document.body.classList.toggle('comparing', Boolean(state.right));
    },
  };
}
