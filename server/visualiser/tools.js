// The controls that all views share: which tensor, slice and window, and the training length.
import {numberField, pager} from './controls.js';
import {h} from './dom.js';
import {axisTitle} from './schema.js';
import {statedLength} from './variants.js';

const OUT_OF_VIEW = {zoom: ''}; // a place within what was seen before

export function createTools(element, update) {
    const capital = (text) => text[0].toUpperCase() + text.slice(1);
    const labelled = (text, control) => h('label', {}, `${capital(text)} `, control);

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
            return numberField({
                label: capital(`${axisTitle(tensor.axes[i])} (of ${extent})`),
                max: extent - 1,
                value: slice[i],
                changed: (to) => update({slice: slice.with(i, to).join()}),
            });
        });
    }

    const windows = ({rows, totalRows, firstRow, row}) =>
        pager({
            title: 'Window of rows',
            label: capital(`${row.axis === 'n' ? 'rows' : row.axis} from`),
            first: firstRow,
            count: rows,
            total: totalRows,
            go: (to) => update({row: String(to), ...OUT_OF_VIEW}),
        });

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
        // those that the view heeds
        show([table], {options}, {tools = ['slice', 'row', 'mark']}) {
            const focused =
                document.activeElement?.closest('#tools') &&
                [...element.querySelectorAll('input, select, button')].indexOf(
                    document.activeElement,
                );
            const heeds = (tool) => tools.includes(tool);
            element.replaceChildren(
                ...[
                    tensors(table),
                    ...(heeds('slice') ? slices(table) : []),
                    heeds('row') && windows(table),
                    heeds('mark') && mark(table, options),
                ].filter(Boolean),
            );
            if (focused != null && focused >= 0)
                element.querySelectorAll('input, select, button')[focused]?.focus();
        },
    };
}
