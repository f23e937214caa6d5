// The fields of a form: choices, texts and sliders for parameters.
import {cut} from './about.js';
import {h} from './dom.js';
import {brief} from './numbers.js';

const STEPS = 1000; // of a slider
const SIZE_MAX = 65536; // sizes beyond are typed, not slid

// The least and the largest value that a slider offers: a step off the bounds that are
// excluded.
function boundsOf({
    type,
    minimum,
    maximum,
    exclusive_minimum: above,
    exclusive_maximum: below,
}) {
    const step = type === 'integer' ? 1 : ((below ?? maximum) - (above ?? minimum)) / STEPS;
    return {minimum: minimum ?? above + step, maximum: maximum ?? below - step};
}

// The range of a slider, {from, to, log}, or null if a parameter should have none.
function rangeOf(parameter) {
    const {type, default: standard, unit, format} = parameter;
    if ((type !== 'integer' && type !== 'number') || format) return null;
    const {minimum, maximum} = boundsOf(parameter);
    if (type === 'integer' && minimum >= 0) {
        const to = Math.min(
            maximum,
            unit === 'columns' || unit === 'units' || unit === 'heads' ? 4096 : SIZE_MAX,
        );
        return unit || maximum <= SIZE_MAX
            ? {from: minimum, to, log: to - minimum > 128}
            : null;
    }
    const decades = minimum > 0 ? Math.log10(maximum / minimum) : 0;
    if (maximum - minimum <= 1024 && decades <= 6)
        return {from: minimum, to: maximum, log: false};
    if (minimum < 0 || !(standard > 0)) return null;
    const from = Math.max(minimum, standard * 1e-4),
        to = Math.min(maximum, standard * 1e4);
    return {from, to, log: true};
}

function toSlider({from, to, log}, value) {
    const shift = log && from <= 0 ? 1 - from : 0; // so that logarithms exist
    const part = log
        ? Math.log((value + shift) / (from + shift)) / Math.log((to + shift) / (from + shift))
        : (value - from) / (to - from);
    return Math.round(STEPS * Math.max(0, Math.min(1, part)));
}

function fromSlider({from, to, log}, at, {type, multiple_of: multiple}) {
    const shift = log && from <= 0 ? 1 - from : 0;
    const part = at / STEPS;
    const value = log
        ? (from + shift) * ((to + shift) / (from + shift)) ** part - shift
        : from + part * (to - from);
    if (type !== 'integer') return String(Number(value.toPrecision(3)));
    const unit = multiple || 1;
    return String(Math.max(Math.ceil(from / unit), Math.round(value / unit)) * unit);
}

// The value after an arrow key: the slider's next step, but for integers at least the next
// integer.
function stepped(range, text, direction, parameter) {
    const {type, multiple_of: multiple} = parameter;
    const next = fromSlider(
        range,
        Math.max(0, Math.min(STEPS, toSlider(range, Number(text)) + direction)),
        parameter,
    );
    if (type !== 'integer' || (Number(next) - Number(text)) * direction > 0) return next;
    const unit = multiple || 1;
    return String(
        Math.max(
            Math.ceil(range.from / unit) * unit,
            Math.min(range.to, Number(text) + direction * unit),
        ),
    );
}

const ARROWS = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1};
export const plain = (name) => name.replace(/_/g, ' ');
const labelOf = (name) => plain(name[0].toUpperCase() + name.slice(1));

// What fields tell their form: edit(name, text, done, kind), where `done` says that the gesture
// has ended, and rest() when it ends without a change.

function createChoice(name, options, label, {edit}) {
    const select = h('select', {onchange: () => edit(name, select.value, true)});
    const standard = h('option', {value: ''}, label);
    select.append(standard, ...options.map((option) => h('option', {value: option}, option)));
    return {
        control: select,
        standard,
        // the default has one line, that of leaving the parameter out
        set: (text, usual) => {
            if (text && !options.includes(text))
                // wrong, but the service says so
                select.append(h('option', {value: text}, text));
            for (const option of select.options)
                option.hidden = option.value !== '' && option.value === usual && text !== usual;
            select.value = text;
        },
    };
}

function createText({name, type}, {edit, rest}) {
    const numeric = type === 'integer' || type === 'number';
    const input = h('input', {
        type: 'text',
        inputmode: numeric ? 'decimal' : 'text',
        autocomplete: 'off',
        spellcheck: 'false',
        oninput: () => edit(name, input.value.trim(), false),
        onchange: rest,
    });
    return {
        control: input,
        set: (text) => {
            if (input.value.trim() !== text) input.value = text;
        },
        hint: (text) => {
            input.placeholder = text;
        },
    };
}

function createSlider(parameter, id, {edit, rest}) {
    const range = rangeOf(parameter);
    if (!range || range.to <= range.from) return null;
    const input = h('input', {
        type: 'range',
        min: 0,
        max: STEPS,
        'aria-labelledby': `${id}-label`,
        oninput: () =>
            edit(
                parameter.name,
                fromSlider(range, Number(input.value), parameter),
                false,
                'slide',
            ),
        onkeydown: (event) => {
            if (!(event.key in ARROWS) || event.ctrlKey || event.altKey || event.metaKey)
                return;
            event.preventDefault();
            edit(
                parameter.name,
                stepped(
                    range,
                    input.getAttribute('aria-valuetext'),
                    ARROWS[event.key],
                    parameter,
                ),
                true,
                'slide',
            );
        },
        onchange: rest,
    });
    return {
        control: input,
        set: (text) => {
            input.value = toSlider(range, Number(text) || 0);
            input.setAttribute('aria-valuetext', text);
        },
    };
}

// {parameter, row, made, slid, error, note}: the field's element, its controls, and what is
// said beside them.
export function createField(parameter, side, listener) {
    const id = `${side}-${parameter.name}`;
    const {name, type, help, unit} = parameter;
    const choices = type === 'boolean' ? ['true', 'false'] : parameter.choices?.map(String);
    const made = choices
        ? createChoice(name, choices, '', listener)
        : createText(parameter, listener);
    made.control.id = id;
    made.control.setAttribute('aria-describedby', `${id}-help ${id}-error ${id}-note`);
    const slid = choices ? null : createSlider(parameter, id, listener);
    const error = h('p', {id: `${id}-error`, class: 'error', hidden: true});
    const note = h('span', {class: 'note', id: `${id}-note`});
    const row = h(
        'div',
        {class: 'field'},
        h(
            'div',
            {class: 'field-head'},
            h(
                'label',
                {for: id, id: `${id}-label`, title: help},
                labelOf(name),
                unit && unit !== name ? h('span', {class: 'unit'}, ` ${unit}`) : null,
            ),
            note,
        ),
        made.control,
        slid?.control,
        error,
        h('p', {id: `${id}-help`, class: 'help', hidden: true}, help),
    );
    return {parameter, row, made, slid, error, note};
}

const presetText = ({help, values}) =>
    [
        help,
        Object.entries(values)
            .map(
                ([key, value]) =>
                    `${plain(key)} ${typeof value === 'number' ? brief(value) : value}`,
            )
            .join(', '),
    ]
        .filter(Boolean)
        .join(': ');

// The field of the presets.
export function createPresets(presets, side, listener) {
    const made = createChoice(
        'preset',
        presets.map(({name}) => name),
        'none',
        listener,
    );
    const help = h('p', {class: 'help', id: `${side}-preset-help`, hidden: true});
    const error = h('p', {class: 'error', id: `${side}-preset-error`, hidden: true});
    made.control.id = `${side}-preset`;
    made.control.setAttribute('aria-describedby', `${side}-preset-help`);
    const row = h(
        'div',
        {class: 'field'},
        h('label', {for: `${side}-preset`}, 'Preset'),
        made.control,
        help,
        error,
    );
    const set = (text) => {
        made.set(text);
        const chosen = presets.find(({name}) => name === text);
        help.textContent = chosen
            ? presetText(chosen)
            : `${presets.length} named settings of libraries and papers`;
    };
    return {parameter: {name: 'preset'}, row, made: {control: made.control, set}, error};
}

function showDifference({row, note}, mine = 'not set', theirs = 'not set') {
    row.classList.toggle('differs', mine !== theirs);
    note.textContent = mine !== theirs ? `A: ${cut(theirs)}` : '';
}

function hintOf({name, default_of: defaultOf, stored}, {blocked, required}, effective) {
    if (blocked) return `not with ${plain(blocked)}`;
    if (required) return 'required';
    const computed =
        defaultOf && effective[name] == null ? ` = ${defaultOf}` : (effective[name] ?? '');
    return computed || (stored ? 'from the set' : 'not set');
}

// Show a field's value; `usual` is the one that it has if none is given, `theirs` that of the
// other side.
export function showField(field, {given, conditions, effective, usual, theirs}) {
    const {parameter, row, made, slid, note} = field;
    const {name} = parameter;
    row.hidden = !conditions.legal && given === '' && !conditions.blocked;
    made.control.disabled = Boolean(conditions.blocked) && given === '';
    if (slid) slid.control.disabled = made.control.disabled;
    made.control.toggleAttribute('aria-required', false);
    if (conditions.required) made.control.setAttribute('aria-required', 'true');
    const hint = hintOf(parameter, conditions, effective);
    made.hint?.(hint);
    if (made.standard) made.standard.textContent = given === '' ? hint : (usual ?? 'not set');
    made.set(given, usual);
    slid?.set(effective[name] ?? '');
    if (note) showDifference(field, effective[name], theirs);
}

// Put what is wrong with a field beside it: {allowed, did_you_mean}, or undefined.
export function complainIn(field, wrong, {edit}) {
    const {parameter, error, made} = field;
    const suggestion = wrong?.did_you_mean;
    const news = JSON.stringify(wrong);
    if (news === field.news) return; // a button in it may be under a finger
    field.news = news;
    error.hidden = !wrong;
    made.control.toggleAttribute('aria-invalid', false);
    error.replaceChildren();
    if (!wrong) return;
    made.control.setAttribute('aria-invalid', 'true');
    error.append(wrong.allowed);
    if (suggestion)
        error.append(
            '; did you mean ',
            h(
                'button',
                {type: 'button', onclick: () => edit(parameter.name, suggestion, true)},
                suggestion,
            ),
            '?',
        );
}
