// The heatmap: rows (mostly positions) downwards, columns (mostly dimensions) to the right.
// With two settings: both and their difference, on the same axes. Drawn pixel by pixel from the
// typed arrays.
import {optionField} from '../controls.js';
import {select} from 'd3-selection';
import {zoom as zoomBehaviour, zoomIdentity} from 'd3-zoom';
import {scaleOf} from '../colours.js';
import {sharesByItself} from '../arrangement.js';
import {refusalOf} from '../difference.js';
import {later} from '../busy.js';
import {h, gridMove, isModified} from '../dom.js';
import {highlighted} from '../highlight.js';
import {heatmapNote} from '../notes.js';
import {brief, shortest, clamp} from '../numbers.js';
import {titlesOf} from '../schema.js';
import {MARGIN, createPanel} from './heatmap_panel.js';

// pixels that the note, buttons, titles, axes and what stands below take of the height
const AROUND = 140;
const LOW = 300;
const NARROW = 620; // below, panels stand one under the other
const CELL = 40; // of other matrices a cell is no larger
const SLIM = 8; // a matrix this many times longer than wide is not drawn with square cells

// ---- texts ----

const placeOf = ({row: rows, column: columns}, {row, column}) =>
    [
        `${rows.title} ${rows.at(row)}`,
        columns.title && `${columns.title} ${columns.at(column)}`,
    ].filter(Boolean);
const has = (table, {row, column}) => row < table.rows && column < table.columns;

// A line of text about a cell. Where both sides have other axes, each names its own place.
function describeCell(tables, difference, cell) {
    const {row, column} = cell;
    const wavelengths = tables
        .map((each) => each.wavelengths?.[column])
        .filter((each) => Number.isFinite(each));
    const ending =
        wavelengths.length > 0 ? [`wavelength ${wavelengths.map(brief).join(' and ')}`] : [];
    if (tables.length > 1 && refusalOf(...tables))
        return [
            ...tables
                .map(
                    (each, i) =>
                        has(each, cell) &&
                        `${'AB'[i]}: ${placeOf(each, cell).join(', ')}, value ` +
                            `${each.text(row, column)}`,
                )
                .filter(Boolean),
            ...ending,
        ].join(' · ');
    const widest = tables.find((each) => has(each, cell)) ?? tables[0];
    const values = tables.map(
        (each, i) =>
            has(each, cell) &&
            `${tables.length > 1 ? `${'AB'[i]} ` : 'value '}${each.text(row, column)}`,
    );
    if (difference && has(difference, cell))
        values.push(`difference ${difference.text(row, column)}`);
    return [...placeOf(widest, cell), ...values.filter(Boolean), ...ending].join(' · ');
}

// What to say of a table whose values have no range; '' of others.
function sameness({
    constant,
    dtype,
    identical,
    partial,
    rows,
    totalRows,
    extent: [least, most],
    side,
}) {
    if (side === 'difference' && identical)
        return `A and B are identical${partial ? ' where both have values' : ''}`;
    const what =
        side === 'difference'
            ? 'all differences'
            : `all ${rows < totalRows ? 'values of this window' : 'values'}`;
    if (constant !== null) return `${what} are ${shortest(dtype, constant)}`;
    return least === most ? `all finite values are ${shortest(dtype, least)}` : '';
}

// ---- sizes ----

// Whether an axis is compared with itself, or queries with keys; or whether it is a grid.
function isOfPlaces({tensor, row, column}) {
    if (tensor.shape.length < 2) return false;
    if (row.title === 'row' && column.title === 'column') return true;
    return (row.axis === 'queries' && column.axis === 'keys') || row.axis === column.axis;
}

// The size of all pictures in pixels; cells of matrices that compare places are as high as
// wide.
function sizeOf({rows, columns}, {count, width, height, square}) {
    // squares grow downwards too
    const across = width < NARROW ? 1 : square ? Math.min(count, 2) : count;
    const room = Math.max(
        120,
        Math.floor(width / across) - MARGIN.left - MARGIN.right - (across > 1 ? 12 : 0),
    );
    const tall = Math.max(LOW, height - AROUND);
    if (square && Math.max(rows, columns) <= SLIM * Math.min(rows, columns)) {
        const cell = Math.min(room / columns, tall / rows);
        return {
            wide: Math.max(1, Math.floor(cell * columns)),
            high: Math.max(1, Math.floor(cell * rows)),
        };
    }
    return {
        wide: Math.min(room, Math.max(columns * CELL, 160)),
        high: Math.min(tall, Math.max(rows * CELL, 96)),
    }; // one column needs no whole page
}

// ---- zoom ----

// d3's zoom of a picture: a wheel only with the focus, one finger only where there is something
// to move.
function behaviourOf({wide, high}, scaleExtent, scaleNow) {
    const allowed = ({type, button, touches, ctrlKey, target}) =>
        !button &&
        (type !== 'touchstart' || scaleNow() > 1 || touches.length > 1) &&
        (type !== 'wheel' || ctrlKey || document.activeElement === target);
    return zoomBehaviour()
        .scaleExtent(scaleExtent)
        .extent([
            [0, 0],
            [wide, high],
        ])
        .translateExtent([
            [0, 0],
            [wide, high],
        ])
        .filter(allowed);
}

// The cell at a pixel of a picture that shows `rows` and `columns`, or null outside.
function cellUnder(x, y, {rows, columns}, whole, {wide, high}) {
    if (x < 0 || y < 0 || x >= wide || y >= high) return null;
    return {
        row: clamp(Math.floor(rows[0] + (y / high) * (rows[1] - rows[0])), 0, whole.rows - 1),
        column: clamp(
            Math.floor(columns[0] + (x / wide) * (columns[1] - columns[0])),
            0,
            whole.columns - 1,
        ),
    };
}

// What part of the tables is seen: {buttons, view(), pixelOf(cell), cellAt(event),
// reveal(cell), connect()}. `changed` is called when that changes, `cell()` gives the cell
// under the crosshair.
function createWindow(shown, whole, {wide, high}, {options, update, signal, changed, cell}) {
    let transform = zoomIdentity;
    const scaleExtent = [1, Math.max(1, whole.rows / 4, whole.columns / 4)];
    const behaviour = behaviourOf({wide, high}, scaleExtent, () => transform.k).on(
        'zoom',
        (event) => {
            if (event.transform !== transform) follow(event.transform);
        },
    );
    const remember = later(() => {
        if (signal.aborted) return;
        const {k, x, y} = transform;
        update(
            {
                zoom:
                    k === 1
                        ? ''
                        : [k, x / wide, y / high].map((each) => Number(each.toFixed(5))).join(),
            },
            {quiet: true},
        );
    }, 250);
    function follow(to) {
        transform = to;
        for (const {canvas} of shown) {
            canvas.__zoom = to; // d3's own place for it: panels stay linked
            canvas.closest('.panels')?.classList.toggle('zoomed', to.k > 1);
        }
        changed();
        remember();
    }
    const first = select(shown[0].canvas);
    const middleOf = ({row, column}) => [
        ((column + 0.5) / whole.columns) * wide,
        ((row + 0.5) / whole.rows) * high,
    ];
    const pixelOf = (at) => transform.apply(middleOf(at));
    const zoomTo = (to) => first.call(behaviour.transform, to);
    const zoomBy = (factor) =>
        first.call(behaviour.scaleBy, factor, cell() ? pixelOf(cell()) : [wide / 2, high / 2]);
    const view = () => ({
        columns: [0, wide].map((x) => (transform.invertX(x) / wide) * whole.columns),
        rows: [0, high].map((y) => (transform.invertY(y) / high) * whole.rows),
    });
    return {
        view,
        zoomTo,
        zoomBy,
        cellAt: ({offsetX, offsetY}) =>
            cellUnder(offsetX - MARGIN.left, offsetY - MARGIN.top, view(), whole, {wide, high}),
        // Bring a cell into view.
        reveal(at) {
            const [x, y] = pixelOf(at);
            if (x < 0 || y < 0 || x > wide || y > high)
                first.call(behaviour.translateTo, ...middleOf(at));
        },
        connect() {
            for (const {canvas} of shown)
                select(canvas).call(behaviour).on('dblclick.zoom', null);
            const [k, x, y] = (options.zoom ?? '').split(',').map(Number);
            if (k > 1 && Number.isFinite(x) && Number.isFinite(y))
                zoomTo(
                    zoomIdentity.translate(x * wide, y * high).scale(clamp(k, ...scaleExtent)),
                );
        },
    };
}

const buttonsOf = ({zoomBy, zoomTo}, choosable, sharing) =>
    h(
        'div',
        {class: 'buttons', role: 'group', 'aria-label': 'Zoom'},
        h('button', {type: 'button', onclick: () => zoomBy(1.6)}, 'Zoom in'),
        h('button', {type: 'button', onclick: () => zoomBy(1 / 1.6)}, 'Zoom out'),
        h('button', {type: 'button', onclick: () => zoomTo(zoomIdentity)}, 'All'),
        sharing || null,
        h(
            'span',
            {class: 'quiet'},
            `Click${choosable ? ' to highlight a column' : ''}, then wheel to zoom, drag to ` +
                'pan, arrow keys to move.',
        ),
    );

// ---- the view ----

function panelsOf({tables, difference, titles, colours, mark}, {choosable, sharing}) {
    const all = scaleOf(
        colours,
        tables.map(({extent}) => extent),
    );
    const scaleFor = ({extent}) => (sharing ? all : scaleOf(colours, [extent]));
    const panelOf = (table, title, scale) =>
        createPanel(table, title, scale, {colours, mark, sameness: sameness(table), choosable});
    const names = titles ?? (tables.length > 1 ? titlesOf(tables) : [tables[0].tensor.name]);
    const panels = tables.map((table, i) => panelOf(table, names[i], scaleFor(table)));
    if (!difference) return panels;
    const symmetric = scaleOf(colours, [
        difference.extent,
        difference.extent.map((value) => -value).reverse(),
    ]);
    return [...panels, panelOf(difference, 'A − B', symmetric)];
}

const wholeOf = (tables) => ({
    rows: Math.max(...tables.map(({rows}) => rows)),
    columns: Math.max(...tables.map(({columns}) => columns)),
});

// Pointer and keys: what they point at, `cell()` now, and which column they choose.
function connect(shown, seen, whole, {signal, cell, point, choose}) {
    const KEYS = {
        '+': () => seen.zoomBy(1.6),
        '=': () => seen.zoomBy(1.6),
        '-': () => seen.zoomBy(1 / 1.6),
        0: () => seen.zoomTo(zoomIdentity),
        Enter: () => choose(cell()),
    };
    function press(event) {
        const move = gridMove(event);
        if (isModified(event) || !(move || event.key in KEYS)) return;
        event.preventDefault();
        if (!move) return void KEYS[event.key]();
        const [down, right] = move,
            at = cell();
        point(
            at
                ? {
                      row: clamp(at.row + down, 0, whole.rows - 1),
                      column: clamp(at.column + right, 0, whole.columns - 1),
                  }
                : {row: 0, column: 0},
        );
        seen.reveal(cell());
    }
    for (const {canvas} of shown) {
        canvas.addEventListener('pointermove', (event) => point(seen.cellAt(event)), {signal});
        canvas.addEventListener('pointerleave', () => point(null), {signal});
        canvas.addEventListener('pointerdown', () => canvas.focus({preventScroll: true}), {
            signal,
        });
        canvas.addEventListener('click', (event) => choose(seen.cellAt(event)), {signal});
        canvas.addEventListener('keydown', press, {signal});
    }
}

// The panels that are zoomed together, and what stands in them: {whole, size, seen, tables,
// panels, side}. Where A and B share nothing, each is a group alone.
function groupsOf(panels, sharing, {tables, difference, width, height}) {
    const square = tables.every(isOfPlaces);
    const groups = sharing
        ? [{tables, difference, panels}]
        : panels.map((panel, side) => ({tables: [tables[side]], panels: [panel], side}));
    return groups.map((group) => {
        const whole = wholeOf(group.tables);
        const look = {count: panels.length, width, height};
        const size = sizeOf(whole, {
            ...look,
            square: sharing ? square : group.tables.every(isOfPlaces),
        });
        group.panels.forEach((panel) => panel.resize(size.wide, size.high));
        return {...group, whole, size};
    });
}

// Whether A and B share colours and axes: {value: 'shared' or 'own', field}.
const sharingOf = (context) =>
    optionField(
        context,
        'heatmap.scales',
        'colours and axes',
        [
            ['shared', 'shared by A and B'],
            ['own', 'each its own'],
        ],
        sharesByItself(context) ? 'shared' : 'own',
    );

// Views with their own matrices may pass `titles` of the panels and a `note` of their own;
// `linked: false` says that columns are not those of the table.
function render(container, context) {
    const {tables, refusal, hover, options, update, signal, mark, linked = true} = context;
    const {note = heatmapNote(tables, mark, signal)} = context;
    const choosable = linked && wholeOf(tables).columns > 1;
    const scales = sharingOf(context);
    const sharing = tables.length < 2 || scales.value === 'shared';
    const shown = panelsOf(sharing ? context : {...context, difference: null}, {
        choosable,
        sharing,
    });
    const groups = groupsOf(shown, sharing, context);
    let place = {group: groups[0], cell: null},
        column = choosable ? highlighted(options, groups[0].whole) : null,
        frame = 0;
    const cellOf = (group) => (place.group === group ? place.cell : null);
    for (const group of groups)
        group.seen = createWindow(group.panels, group.whole, group.size, {
            ...context,
            ...(group.side === 1 && {options: {}, update: () => {}}), // the address has A's
            changed: redraw,
            cell: () => cellOf(group),
        });
    const cover = h('p', {class: 'quiet heatmap-cover'});
    const everywhere = (move) => (by) => groups.forEach(({seen}) => seen[move](by));
    container.append(
        note,
        ...(refusal ? [h('p', {class: 'refusal'}, refusal)] : []),
        buttonsOf(
            {zoomBy: everywhere('zoomBy'), zoomTo: everywhere('zoomTo')},
            choosable,
            tables.length > 1 && scales.field,
        ),
        h('div', {class: 'panels'}, ...shown.map(({element}) => element)),
        cover,
    );

    function draw() {
        for (const group of groups)
            group.panels.forEach((panel) =>
                panel.draw(group.seen.view(), {
                    cell: cellOf(group),
                    column: group.side === 1 ? null : column,
                }),
            );
        const text = shown.map(({cover: each}) => each()).find(Boolean) ?? '';
        if (cover.textContent !== text) cover.textContent = text;
    }
    function redraw() {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(draw);
    }
    function tell() {
        const {group, cell} = place;
        const side = group.side == null ? '' : `${'AB'[group.side]}: `;
        const text = cell && describeCell(group.tables, group.difference, cell);
        hover(cell ? side + text : '');
    }
    let measured = false;
    function point(group, cell) {
        place = {group, cell};
        tell();
        redraw();
        if (measured) return;
        measured = true; // wavelengths are measured when somebody looks
        Promise.all(tables.map(({wavelengthsKnown}) => wavelengthsKnown)).then(() => {
            if (!signal.aborted && place.cell) tell();
        });
    }
    function choose(group, at) {
        if (!choosable || !at || group.side === 1) return;
        column = at.column === column ? null : at.column;
        update({column: column == null ? '' : String(column)}, {quiet: true});
        redraw();
    }
    for (const group of groups) {
        group.seen.connect();
        connect(group.panels, group.seen, group.whole, {
            signal,
            cell: () => cellOf(group),
            point: (at) => point(group, at),
            choose: (at) => choose(group, at),
        });
    }
    draw();
    return () => cancelAnimationFrame(frame);
}

export default {
    name: 'heatmap',
    title: 'Heatmap',
    linked: true,
    options: ['scales'],
    applies: ({shape}) => shape.length >= 1,
    render,
};
