// The form of one side, drawn from a scheme's document: every parameter, preset and help text.
import {cut} from './about.js';
import {h} from './dom.js';
import {brief} from './numbers.js';
import {conditionsOf, effectiveOf, isEssential, parameterOf} from './schema.js';

const STEPS = 1000; // of a slider
const SIZE_MAX = 65536; // sizes beyond are typed, not slid

// The least and the largest value that a slider offers: a step off the bounds that are excluded.
function boundsOf({type, minimum, maximum, exclusive_minimum: above, exclusive_maximum: below}) {
  const step = type === 'integer' ? 1 : ((below ?? maximum) - (above ?? minimum)) / STEPS;
  return {minimum: minimum ?? above + step, maximum: maximum ?? below - step};
}

// The range of a slider, {from, to, log}, or null if a parameter should have none.
function rangeOf(parameter) {
  const {type, default: standard, unit, format} = parameter;
  if ((type !== 'integer' && type !== 'number') || format) return null;
  const {minimum, maximum} = boundsOf(parameter);
  if (type === 'integer' && minimum >= 0) {
    const to = Math.min(maximum, unit === 'columns' || unit === 'units' || unit === 'heads' ? 4096 : SIZE_MAX);
    return unit || maximum <= SIZE_MAX ? {from: minimum, to, log: to - minimum > 128} : null;
  }
  const decades = minimum > 0 ? Math.log10(maximum / minimum) : 0;
  if (maximum - minimum <= 1024 && decades <= 6) return {from: minimum, to: maximum, log: false};
  if (minimum < 0 || !(standard > 0)) return null;
  const from = Math.max(minimum, standard * 1e-4), to = Math.min(maximum, standard * 1e4);
  return {from, to, log: true};
}

function toSlider({from, to, log}, value) {
  const shift = log && from <= 0 ? 1 - from : 0; // so that logarithms exist
  const part = log ? Math.log((value + shift) / (from + shift)) / Math.log((to + shift) / (from + shift)) : (value - from) / (to - from);
  return Math.round(STEPS * Math.max(0, Math.min(1, part)));
}

function fromSlider({from, to, log}, at, {type, multiple_of: multiple}) {
  const shift = log && from <= 0 ? 1 - from : 0;
  const part = at / STEPS;
  const value = log ? (from + shift) * ((to + shift) / (from + shift)) ** part - shift : from + part * (to - from);
  if (type !== 'integer') return String(Number(value.toPrecision(3)));
  const unit = multiple || 1;
  return String(Math.max(Math.ceil(from / unit), Math.round(value / unit)) * unit);
}

// The value after an arrow key: the slider's next step, but for integers at least the next integer.
function stepped(range, text, direction, parameter) {
  const {type, multiple_of: multiple} = parameter;
  const next = fromSlider(range, Math.max(0, Math.min(STEPS, toSlider(range, Number(text)) + direction)), parameter);
  if (type !== 'integer' || (Number(next) - Number(text)) * direction > 0) return next;
  const unit = multiple || 1;
  return String(Math.max(Math.ceil(range.from / unit) * unit, Math.min(range.to, Number(text) + direction * unit)));
}

const ARROWS = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1};
const plain = (name) => name.replace(/_/g, ' ');
const labelOf = (name) => plain(name[0].toUpperCase() + name.slice(1));

// create(side, change): `change(parameters, {kind, name, held})` hears of every edit: 'slide' or 'settings', of
// which parameter, and whether the same gesture goes on. The result has `element`, `goTo(name)` for a field,
// `show(scheme, settings, other)`, where `other` are settings to tell differences from, and `complain(problem)`.
export function createForm(side, change) {
  const help = h('p', {class: 'help-line', 'aria-hidden': 'true', hidden: true}); // fields have it as their description
  const element = h('div', {class: 'form', onfocusin: ({target}) => explain(target.closest('.field')), onfocusout: () => explain(null)});
  let scheme, settings, other, fields, more, gesture = false;

  function explain(row) {
    const text = row?.querySelector('.help')?.textContent ?? '';
    help.textContent = text;
    help.hidden = !text;
  }

  const edit = (name, text, done, kind = 'settings') => {
    const parameters = {...settings.parameters};
    if (text === '') delete parameters[name];
    else parameters[name] = text;
    settings = {...settings, parameters};
    refresh();
    change(parameters, {kind, name, held: gesture});
    gesture = !done;
  };

  function chooser(name, options, label) {
    const select = h('select', {onchange: () => edit(name, select.value, true)});
    const standard = h('option', {value: ''}, label);
    select.append(standard, ...options.map((option) => h('option', {value: option}, option)));
    return {control: select, standard, set: (text) => {
      if (text && !options.includes(text)) select.append(h('option', {value: text}, text)); // wrong, but the service says so
      select.value = text;
    }};
  }

  function typed(parameter) {
    const numeric = parameter.type === 'integer' || parameter.type === 'number';
    const input = h('input', {type: 'text', inputmode: numeric ? 'decimal' : 'text', autocomplete: 'off', spellcheck: 'false',
      oninput: () => edit(parameter.name, input.value.trim(), false),
      onchange: () => { gesture = false; }});
    return {control: input, set: (text) => { if (input.value.trim() !== text) input.value = text; }, hint: (text) => { input.placeholder = text; }};
  }

  function slider(parameter, id) {
    const range = rangeOf(parameter);
    if (!range || range.to <= range.from) return null;
    const input = h('input', {type: 'range', min: 0, max: STEPS, 'aria-labelledby': `${id}-label`,
      oninput: () => edit(parameter.name, fromSlider(range, Number(input.value), parameter), false, 'slide'),
      onkeydown: (event) => {
        if (!(event.key in ARROWS) || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        edit(parameter.name, stepped(range, input.getAttribute('aria-valuetext'), ARROWS[event.key], parameter), true, 'slide');
      },
      onchange: () => { gesture = false; }});
    return {control: input, set: (text) => {
      input.value = toSlider(range, Number(text) || 0);
      input.setAttribute('aria-valuetext', text);
    }};
  }

  function field(parameter) {
    const id = `${side}-${parameter.name}`;
    const {name, type, help, unit} = parameter;
    const choices = type === 'boolean' ? ['true', 'false'] : parameter.choices?.map(String);
    const made = choices ? chooser(name, choices, '') : typed(parameter);
    made.control.id = id;
    made.control.setAttribute('aria-describedby', `${id}-help ${id}-error ${id}-note`);
    const slid = choices ? null : slider(parameter, id);
    const error = h('p', {id: `${id}-error`, class: 'error', hidden: true});
    const note = h('span', {class: 'note', id: `${id}-note`});
    const row = h('div', {class: 'field'},
      h('div', {class: 'field-head'}, h('label', {for: id, id: `${id}-label`, title: help}, labelOf(name), unit && unit !== name ? h('span', {class: 'unit'}, ` ${unit}`) : null), note),
      made.control, slid?.control, error, h('p', {id: `${id}-help`, class: 'help', hidden: true}, help));
    return {parameter, row, made, slid, error, note};
  }

  function refresh() {
    const effective = effectiveOf(scheme, settings.parameters);
    const theirs = other && effectiveOf(other.scheme, other.parameters);
    for (const {parameter, row, made, slid, note} of fields) {
      const {name} = parameter;
      const given = settings.parameters[name] ?? '';
      const conditions = conditionsOf(scheme, parameter, effective);
      row.hidden = !conditions.legal && given === '' && !conditions.blocked;
      made.control.disabled = Boolean(conditions.blocked) && given === '';
      if (slid) slid.control.disabled = made.control.disabled;
      made.control.toggleAttribute('aria-required', false);
      if (conditions.required) made.control.setAttribute('aria-required', 'true');
      const computed = parameter.default_of && effective[name] == null ? ` = ${parameter.default_of}` : effective[name] ?? '';
      const hint = conditions.blocked ? `not with ${plain(conditions.blocked)}` : conditions.required ? 'required' : computed || (parameter.stored ? 'from the stored set' : 'none');
      made.hint?.(hint);
      if (made.standard) made.standard.textContent = given === '' ? hint : `default`;
      made.set(given);
      slid?.set(effective[name] ?? '');
      if (note) showDifference(row, note, effective[name], theirs && parameterOf(other.scheme, name) ? theirs[name] : effective[name]);
    }
    const rest = fields.filter(({row}) => more.contains(row) && !row.hidden).length;
    more.hidden = rest === 0;
    more.querySelector('summary').textContent = `More (${rest})`;
  }

  function showDifference(row, note, mine = 'none', theirs = 'none') {
    row.classList.toggle('differs', mine !== theirs);
    note.textContent = mine !== theirs ? `A: ${cut(theirs)}` : '';
  }

  // Open the part with what is given, wrong, or different from the other side.
  function reveal() {
    const marked = ({parameter: {name}, row, error}) => more.contains(row) && (settings.parameters[name] != null || !error.hidden || row.classList.contains('differs'));
    if (fields.some(marked)) more.open = true;
  }

  function draw() {
    const preset = scheme.presets.length ? chooser('preset', scheme.presets.map(({name}) => name), 'none') : null;
    const helps = h('p', {class: 'help', id: `${side}-preset-help`, hidden: true});
    fields = scheme.parameters.map(field);
    const start = [];
    if (preset) {
      preset.control.id = `${side}-preset`;
      preset.control.setAttribute('aria-describedby', `${side}-preset-help`);
      const error = h('p', {class: 'error', id: `${side}-preset-error`, hidden: true});
      const row = h('div', {class: 'field'}, h('label', {for: `${side}-preset`}, 'Preset'), preset.control, helps, error);
      const set = (text) => {
        preset.set(text);
        const chosen = scheme.presets.find(({name}) => name === text);
        helps.textContent = chosen ? `${chosen.help}${Object.keys(chosen.values).length ? `: ${Object.entries(chosen.values).map(([key, value]) => `${plain(key)} ${typeof value === 'number' ? brief(value) : value}`).join(', ')}` : ''}` : `${scheme.presets.length} named settings of libraries and papers`;
      };
      fields.unshift({parameter: {name: 'preset'}, row, made: {control: preset.control, set}, error});
      start.push(row);
    }
    const general = h('p', {class: 'error general', hidden: true, id: `${side}-problem`});
    const rowsOf = (essential) => scheme.parameters.filter((each) => isEssential(scheme, each) === essential).map(({name}) => fields.find(({parameter}) => parameter.name === name).row);
    more = h('details', {class: 'more'}, h('summary', {}, 'More'), ...rowsOf(false));
    element.replaceChildren(general, ...start, ...rowsOf(true), more, help);
  }

  function complain(problem) {
    let told = false;
    for (const field of fields) {
      const {parameter, error, made} = field;
      const wrong = problem?.of(parameter.name);
      const suggestion = wrong?.did_you_mean;
      told ||= Boolean(wrong);
      const news = JSON.stringify(wrong);
      if (news === field.news) continue; // a button in it may be under a finger
      field.news = news;
      error.hidden = !wrong;
      made.control.toggleAttribute('aria-invalid', false);
      error.replaceChildren();
      if (!wrong) continue;
      made.control.setAttribute('aria-invalid', 'true');
      error.append(wrong.allowed);
      if (suggestion) error.append('; did you mean ', h('button', {type: 'button', onclick: () => edit(parameter.name, suggestion, true)}, suggestion), '?');
    }
    const general = element.querySelector('.general');
    const strangers = problem?.document.errors?.filter(({parameter}) => !fields.some((each) => each.parameter.name === parameter)) ?? [];
    general.hidden = !problem || (told && strangers.length === 0);
    general.replaceChildren();
    if (told) reveal();
    if (general.hidden) return;
    if (strangers.length === 0) general.append(problem.message);
    for (const {parameter, message} of strangers) general.append(...aboutStranger(parameter, message));
  }

  // What the address gives and the form has no field for.
  function aboutStranger(parameter, message) {
    const parts = [`${message} `];
    if (parameter in settings.parameters) parts.push(h('button', {type: 'button', onclick: () => edit(parameter, '', true)}, `remove ${parameter}`));
    return parts;
  }

  return {
    element,
    complain,
    goTo(name) {
      const control = fields.find(({parameter}) => parameter.name === name)?.made.control;
      control?.focus();
      control?.select?.();
    },
    show(newScheme, newSettings, newOther = null) {
      const drawn = scheme === newScheme;
      scheme = newScheme;
      settings = newSettings;
      other = newOther;
      if (!drawn) draw();
      refresh();
      if (!drawn) reveal();
    },
  };
}
