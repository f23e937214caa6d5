// The controls that all views share: which tensor, slice and window, and the training length.
import {h} from './dom.js';
import {axisTitle} from './schema.js';
import {statedLength} from './variants.js';

const OUT_OF_VIEW = {zoom: ''}; // a place within what was seen before

export function createTools(element, update) {
    const labelled = (text, control) =>
        h('label', {}, `${text[0].toUpperCase()}${text.slice(1)} `, control);

    function tensors({available, tensor}) {
        if (available.length < 2) return null;
        const select = h(
            'select',
            {
                onchange: () =>
                    update({tensor: select.value, slice: '', row: '', ...OUT_OF_VIEW}),
            },
            ...available.map(({name, help}) =>
                h('option', {value: name, title: help, selected: name === tensor.name}, name),
            ),
        );
        return labelled('tensor', select);
    }

    function slices({leading, slice, tensor}) {
        return leading.map((extent, i) => {
            const input = h('input', {
                type: 'number',
                min: 0,
                max: extent - 1,
                value: slice[i],
                onchange: () =>
                    update({
                        slice: slice.map((each, k) => (k === i ? input.value : each)).join(),
                    }),
            });
            return labelled(`${axisTitle(tensor.axes[i])} (of ${extent})`, input);
        });
    }

    function windows({rows, totalRows, firstRow, row}) {
        if (rows >= totalRows) return null;
        const go = (to) =>
            update({row: String(Math.max(0, Math.min(to, totalRows - rows))), ...OUT_OF_VIEW});
        const input = h('input', {
            type: 'number',
            min: 0,
            max: totalRows - rows,
            value: firstRow,
            onchange: () => go(Math.trunc(Number(input.value)) || 0),
        });
        return h(
            'span',
            {class: 'window', role: 'group', 'aria-label': 'Window of rows'},
            labelled(`${row.axis === 'n' ? 'rows' : row.axis} from`, input),
            ` to ${firstRow + rows - 1} of ${totalRows} `,
            h(
                'button',
                {type: 'button', disabled: firstRow === 0, onclick: () => go(firstRow - rows)},
                'Back',
            ),
            h(
                'button',
                {
                    type: 'button',
                    disabled: firstRow + rows >= totalRows,
                    onclick: () => go(firstRow + rows),
                },
                'On',
            ),
        );
    }

    function mark(table, {mark: text = ''}) {
        const {row} = table;
        if (row.axis !== 'n' && row.axis !== 'queries') return null;
        const input = h('input', {
            type: 'number',
            min: 0,
            value: text,
            placeholder: statedLength(table) ?? 'not set',
            onchange: () => update({mark: input.value}),
        });
        return labelled('training length', input);
    }

    return {
        show([table], {options}) {
            const focused =
                document.activeElement?.closest('#tools') &&
                [...element.querySelectorAll('input, select, button')].indexOf(
                    document.activeElement,
                );
            element.replaceChildren(
                ...[
                    tensors(table),
                    ...slices(table),
                    windows(table),
                    mark(table, options),
                ].filter(Boolean),
            );
            if (focused != null && focused >= 0)
                element.querySelectorAll('input, select, button')[focused]?.focus();
        },
    };
}
