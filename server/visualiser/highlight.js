// The column that stands out in every view, `column` in the address: chosen in the heatmap, and
// named below each picture with the views that show it.
import {h} from './dom.js';
import {titleOf} from './schema.js';

// The index of the column within a table, or null.
export function highlighted({column = ''}, {columns}) {
    const at = Number(column);
    return column !== '' && Number.isInteger(at) && at >= 0 && at < columns ? at : null;
}

// Fills a line of the page; `update(patch, view)` changes options and goes to a view.
export function createHighlight(line, update) {
    return {
        show([table], options, views, current) {
            const at = highlighted(options, table);
            line.hidden = at == null || !table.column.title || !current.linked;
            if (line.hidden) return;
            const others = views.filter((view) => view.linked && view !== current);
            line.replaceChildren(
                h('span', {}, `Highlighted: ${table.column.title} ${table.column.at(at)}.`),
                others.length > 0 ? ' See it in ' : '',
                ...others.map((view) =>
                    h(
                        'button',
                        {type: 'button', onclick: () => update({}, view.name)},
                        titleOf(view, table),
                    ),
                ),
                h('button', {type: 'button', onclick: () => update({column: ''})}, 'Clear'),
            );
        },
    };
}
