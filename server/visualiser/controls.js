// Controls that views share. What an address asks for and a control does not have is told
// beside it.
import {h} from './dom.js';
import {clamp} from './numbers.js';

const mistakeOf = (text, id) => text && h('span', {class: 'error', id: `${id}-error`}, text);
const instead = (asked, value) => ` “${asked}” cannot be had: ${value} is shown`;
const labelled = (id, label, control, told) =>
    h('span', {class: 'chart-field'}, h('label', {for: id}, label), ' ', control, told);

// What is told where an address asks for another number than `value`; false where it does not.
export const insteadOf = (asked, value, id) =>
    asked && Number(asked) !== value && mistakeOf(instead(asked, value), id);

// A field that opens a file, also the same one again: it may have changed meanwhile.
export const fileField = (open, attributes) => {
    const field = h('input', {
        type: 'file',
        ...attributes,
        onclick: () => (field.value = ''), // or choosing the same file would be no change
        onchange: () => field.files[0] && open(field.files[0]),
    });
    return field;
};

// A labelled text field; calls `changed(text)` when it loses focus or Enter is pressed.
export function listField({id, label, value, mistake, size = 18, changed}) {
    const input = h('input', {
        type: 'text',
        id,
        value,
        size,
        'aria-invalid': mistake ? 'true' : null,
        'aria-describedby': mistake ? `${id}-error` : null,
        onchange: () => changed(input.value.trim()),
    });
    return labelled(id, label, input, mistakeOf(mistake, id));
}

// A labelled choice of [value, title] pairs.
function choiceField({id, label, value, asked = value, choices, changed}) {
    const select = h(
        'select',
        {id, onchange: () => changed(select.value)},
        ...choices.map(([each, title]) =>
            h('option', {value: each, selected: each === value}, title),
        ),
    );
    const [, title] = choices.find(([each]) => each === value);
    const told = asked !== value && mistakeOf(instead(asked, title), id);
    return labelled(id, label, select, told);
}

// A choice that is an option of a view: {value, field}. The standard one is not in the address.
export function optionField({options, update}, name, label, choices, standard = '') {
    const asked = options[name] || standard;
    const value = choices.some(([each]) => each === asked) ? asked : standard;
    const changed = (chosen) => update({[name]: chosen === standard ? '' : chosen});
    return {
        value,
        field: choiceField({id: name.replace('.', '-'), label, value, asked, choices, changed}),
    };
}

// A labelled whole number from `min` to `max`; `asked` is the text in the address.
export function numberField({id, label, min = 0, max, value, asked, changed}) {
    const input = h('input', {
        type: 'number',
        id,
        min,
        max,
        value,
        onchange: () => changed(clamp(Math.trunc(Number(input.value)) || 0, min, max)),
    });
    return h('label', {}, `${label} `, input, insteadOf(asked, value, id));
}

// Which `count` of `total` are seen, from `first` on; null where all are.
// `asked` is the text in the address.
export function pager({id, title, label, first, count, total, asked, ...more}) {
    const {last = total - count, go} = more;
    if (count >= total) return insteadOf(asked, 0, id) || null;
    const button = (text, to, disabled) =>
        h('button', {type: 'button', disabled, onclick: () => go(clamp(to, 0, last))}, text);
    return h(
        'span',
        {class: 'window', role: 'group', 'aria-label': title},
        numberField({id, label, max: last, value: first, asked, changed: go}),
        ` to ${Math.min(total, first + count) - 1} of ${total} `,
        button('Back', first - count, first === 0),
        button('On', first + count, first + count >= total),
    );
}

// A table of texts below their heads; the first cell of a row names it.
export const tableOf = (heads, rows, {caption, ...attributes} = {}) =>
    h(
        'table',
        {class: 'numbers', ...attributes},
        caption && h('caption', {}, caption),
        h('thead', {}, h('tr', {}, ...heads.map((each) => h('th', {scope: 'col'}, each)))),
        h(
            'tbody',
            {},
            ...rows.map(([name, ...cells]) =>
                h(
                    'tr',
                    {},
                    h('th', {scope: 'row'}, name),
                    ...cells.map((each) => h('td', {}, each)),
                ),
            ),
        ),
    );

// A place for a table that scrolls by itself.
export const scrolled = (label, ...children) =>
    h(
        'div',
        {class: 'numbers-frame', tabindex: 0, role: 'region', 'aria-label': label},
        ...children,
    );

// Draw what is loaded, in a body that says meanwhile what is under way; failures stand there.
export function drawLoaded({signal, until}, body, loading, draw) {
    body.setAttribute('aria-busy', 'true');
    until(
        loading
            .then((loaded) => (signal.aborted ? null : draw(loaded)))
            .catch((error) => {
                if (signal.aborted || error.name === 'AbortError') return;
                if (error.status === undefined) console.error(error);
                body.replaceChildren(h('p', {class: 'failed'}, error.message));
            })
            .finally(() => body.removeAttribute('aria-busy')),
    );
}
