// The cloud of all pairs of positions: their distance against their correlation. The upper
// triangle of the matrices (j > i) and the lower one (j < i) have colours of their own, and a
// third where they meet.
import {legendOf, roomy} from '../charts.js';
import {optionField} from '../controls.js';
import {scaleLinear} from 'd3-scale';
import {h, gridMove} from '../dom.js';
import {brief, clamp} from '../numbers.js';
import {pluralOf, rangeText} from '../lists.js';
import {cloudNote} from '../notes.js';
import {compareTriangles, extentOf, pairsOf, rowsToCompare} from '../pairs.js';
import {drawingControls, drawingOf} from '../rotated.js';
import {titlesOf} from '../schema.js';
import {
    METRICS,
    comparable,
    distancesOfPlaces,
    hasSimilarity,
    loadScores,
    loadSimilarity,
    present,
    rotationIn,
} from '../similarity.js';

const MARGIN = {top: 8, right: 14, bottom: 38, left: 78};
const NARROW = 560;
const AROUND = 200; // pixels that controls, notes and axes take of the height
const LOW = 400;
const REACH = 9; // pixels from the pointer within which a point is found
const FONT = '12px system-ui, sans-serif';
const UPPER = 1,
    LOWER = 2;
const TRIANGLES = Object.entries({
    both: 'both',
    upper: 'upper (j > i)',
    lower: 'lower (j < i)',
});
const only = (...names) => names.map((name) => [name, METRICS[name]]);

const wordOf = (hex) => {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
};
const inksOf = ({categorical}) => ({
    [UPPER]: categorical[0],
    [LOWER]: categorical[1],
    [UPPER | LOWER]: categorical[2],
});

// The more points there are, the smaller they are.
const sizeOf = (count) => (count < 4e3 ? 4 : count < 4e4 ? 3 : count < 2e5 ? 2 : 1);

// Where a point lies in pixels, and in which triangle.
const placeOf = ({x, y, scales}, index) => [scales.x(x.data[index]), scales.y(y.data[index])];
const triangleOf = ({x}, index) =>
    index % x.columns > x.numbers(Math.floor(index / x.columns)) ? UPPER : LOWER;

// Draws the points on a canvas of their own, since putImageData would overwrite the grid below
// them. Also returns for each pixel the index (into the matrices) of a point in it, or -1.
function paint(cloud, {wide, high, ratio}, colours) {
    const {at} = cloud.pairs;
    const nearby = new Int32Array(wide * high).fill(-1);
    const image = new ImageData(Math.round(wide * ratio), Math.round(high * ratio));
    const marks = new Uint8Array(image.width * image.height);
    const size = Math.round(sizeOf(at.length) * ratio);
    for (const index of at) {
        const [px, py] = placeOf(cloud, index);
        nearby[clamp(Math.floor(py), 0, high - 1) * wide + clamp(Math.floor(px), 0, wide - 1)] =
            index;
        const left = clamp(Math.round(px * ratio - size / 2), 0, image.width - size),
            top = clamp(Math.round(py * ratio - size / 2), 0, image.height - size);
        const triangle = triangleOf(cloud, index);
        for (let row = 0; row < size; row++)
            for (let column = 0; column < size; column++)
                marks[(top + row) * image.width + left + column] |= triangle;
    }
    const inks = new Uint32Array(4);
    for (const [mark, hex] of Object.entries(inksOf(colours))) inks[mark] = wordOf(hex);
    const words = new Uint32Array(image.data.buffer);
    for (let i = 0; i < marks.length; i++) words[i] = inks[marks[i]];
    const points = h('canvas', {width: image.width, height: image.height});
    points.getContext('2d').putImageData(image, 0, 0);
    return {points, nearby};
}

function drawAxes(context, {x, y, scales}, {wide, high}, colours) {
    context.font = FONT;
    context.fillStyle = colours.quiet;
    context.strokeStyle = colours.grid;
    context.lineWidth = 1;
    context.textAlign = 'center';
    context.textBaseline = 'top';
    for (const tick of scales.x.ticks(Math.max(2, wide / 70))) {
        const px = Math.round(scales.x(tick)) + 0.5;
        context.strokeRect(px, 0, 0, high);
        context.fillText(brief(tick), px, high + 5);
    }
    context.fillText(x.tensor.name, wide / 2, high + 22);
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const tick of scales.y.ticks(Math.max(2, high / 60))) {
        const py = Math.round(scales.y(tick)) + 0.5;
        context.strokeRect(0, py, wide, 0);
        context.fillText(brief(tick), -6, py);
    }
    context.save();
    context.translate(10 - MARGIN.left, high / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = 'center';
    context.fillText(y.tensor.name, 0, 0);
    context.restore();
}

// A description of a cloud for screen readers.
function labelOf({x, y, pairs: {at}, title}) {
    const range = (matrix) => `${matrix.tensor.name} ${rangeText(extentOf(matrix, at))}`;
    const what =
        at.length > 0
            ? `${at.length} pairs of ${pluralOf(x.row.title)}, ${range(x)}, ${range(y)}`
            : 'no pairs with both numbers';
    return `${title}: ${what}. Arrow keys choose the two ${pluralOf(x.row.title)}.`;
}

// One cloud: {title, x, y: matrices, pairs, scales}; draw(index) rings a point, find(event)
// finds one.
function createCloud(cloud, {wide, high}, {colours}) {
    const {x, y} = cloud;
    const canvas = h('canvas', {
        class: 'plot',
        tabindex: 0,
        role: 'application',
        'aria-roledescription': 'point cloud',
        'aria-label': labelOf(cloud),
    });
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const outer = {
        wide: wide + MARGIN.left + MARGIN.right,
        high: high + MARGIN.top + MARGIN.bottom,
    };
    canvas.width = Math.round(outer.wide * ratio);
    canvas.height = Math.round(outer.high * ratio);
    canvas.style.width = `${outer.wide}px`;
    canvas.style.height = `${outer.high}px`;
    const {points, nearby} = paint(cloud, {wide, high, ratio}, colours);

    canvas.redraw = (context) => draw(-1, context);
    function draw(index, context = canvas.getContext('2d')) {
        context.setTransform(ratio, 0, 0, ratio, MARGIN.left * ratio, MARGIN.top * ratio);
        context.clearRect(-MARGIN.left, -MARGIN.top, outer.wide, outer.high);
        drawAxes(context, cloud, {wide, high}, colours);
        context.drawImage(points, 0, 0, wide, high);
        if (index < 0 || !Number.isFinite(x.data[index]) || !Number.isFinite(y.data[index]))
            return;
        for (const [colour, line] of [
            [colours.paper, 5],
            [colours.ink, 2],
        ]) {
            context.strokeStyle = colour;
            context.lineWidth = line;
            context.beginPath();
            context.arc(...placeOf(cloud, index), 6, 0, 2 * Math.PI);
            context.stroke();
        }
    }

    // The point nearest to a place on the canvas, or -1.
    function find(event) {
        const px = Math.floor(event.offsetX - MARGIN.left),
            py = Math.floor(event.offsetY - MARGIN.top);
        let best = -1,
            least = REACH * REACH + 1;
        for (let row = Math.max(0, py - REACH); row <= Math.min(high - 1, py + REACH); row++)
            for (
                let column = Math.max(0, px - REACH);
                column <= Math.min(wide - 1, px + REACH);
                column++
            ) {
                const distance = (row - py) ** 2 + (column - px) ** 2;
                if (nearby[row * wide + column] < 0 || distance >= least) continue;
                least = distance;
                best = nearby[row * wide + column];
            }
        return best;
    }

    const caption = h('figcaption', {}, cloud.title);
    caption.style.maxWidth = `${outer.wide}px`; // a long one is no reason for another row
    return {
        element: h('figure', {class: 'panel'}, caption, canvas),
        canvas,
        draw,
        find,
        cloud,
    };
}

// ---- texts ----

function newsOf(cloud, prefix, triangle) {
    const {
        x,
        y,
        pairs: {at, undefinedPairs, thinned},
    } = cloud;
    const all = (x.columns * (x.columns - 1)) / (triangle === 'both' ? 1 : 2);
    const {mirrored, different} = compareTriangles(x, y);
    const kept =
        thinned || x.rows < x.columns
            ? `of ${all.toLocaleString('en')} ordered pairs, thinned by a fixed rule`
            : 'ordered pairs';
    const count = at.length > 0 ? at.length.toLocaleString('en') : prefix ? 'no' : 'No';
    const parts = [`${count} ${kept}`];
    if (x.rows < x.columns) parts.push(`${x.rows} of ${x.columns} rows compared with all`);
    if (undefinedPairs > 0)
        parts.push(
            `${undefinedPairs.toLocaleString('en')} without a ${y.tensor.name}, which a ` +
                'constant row does not have',
        );
    if (at.length > 0 && mirrored > 0)
        parts.push(
            different === 0
                ? 'both triangles coincide: the matrices are symmetric'
                : different === mirrored
                  ? 'the triangles differ everywhere'
                  : `${different.toLocaleString('en')} of ${mirrored.toLocaleString('en')} ` +
                    'pairs differ between the triangles',
        );
    return h('p', {class: 'cloud-news'}, `${prefix}${parts.join('; ')}.`);
}

function legend(colours) {
    const titles = {
        [UPPER]: 'upper triangle (j > i)',
        [LOWER]: 'lower triangle (j < i)',
        [UPPER | LOWER]: 'both at this place',
    };
    return legendOf(
        Object.entries(inksOf(colours)).map(([mark, colour]) => ({
            name: titles[mark],
            colour,
            dots: true,
        })),
    );
}

// The index of row numbers (i, j) in a cloud's matrices, or -1.
function indexOf({x, rowsBy}, i, j) {
    const row = rowsBy.get(i);
    return row === undefined || j >= x.columns ? -1 : row * x.columns + j;
}

function describePair(clouds, {i, j}) {
    const [
        {
            x: {row, column, numbers},
            rowsBy,
        },
    ] = clouds;
    const at = rowsBy.has(i) ? row.at(rowsBy.get(i)) : numbers(i);
    const parts = [`${pluralOf(row.title)} ${at} and ${column.at(j)}`];
    clouds.forEach((cloud, side) => {
        const index = indexOf(cloud, i, j);
        if (index < 0) return;
        const [r, c] = [Math.floor(index / cloud.x.columns), index % cloud.x.columns];
        parts.push(
            ...[cloud.x, cloud.y].map(
                (table) =>
                    `${clouds.length > 1 ? `${'AB'[side]} ` : ''}${table.tensor.name} ` +
                    `${table.text(r, c)}`,
            ),
        );
    });
    return parts.join(' · ');
}

// ---- pointer and keys ----

function connect(panels, {hover, signal}) {
    const clouds = panels.map(({cloud}) => cloud);
    let pair = null;
    function show(to) {
        pair = to;
        hover(pair ? describePair(clouds, pair) : '');
        panels.forEach((panel) => panel.draw(pair ? indexOf(panel.cloud, pair.i, pair.j) : -1));
    }
    const pairAt = ({x}, index) =>
        index < 0 ? null : {i: x.numbers(Math.floor(index / x.columns)), j: index % x.columns};
    function press(event, {x, rowsBy}) {
        const move = gridMove(event);
        if (!move) return;
        event.preventDefault();
        const [down, right] = move;
        if (!pair || !rowsBy.has(pair.i))
            return show({i: x.numbers(0), j: Math.min(1, x.columns - 1)});
        show({
            i: x.numbers(clamp(rowsBy.get(pair.i) + down, 0, x.rows - 1)),
            j: clamp(pair.j + right, 0, x.columns - 1),
        });
    }
    for (const {canvas, find, cloud} of panels) {
        canvas.addEventListener('pointermove', (event) => show(pairAt(cloud, find(event))), {
            signal,
        });
        canvas.addEventListener('pointerleave', () => show(null), {signal});
        canvas.addEventListener('keydown', (event) => press(event, cloud), {signal});
    }
    show(null);
}

// Both clouds have the same axes, so that they can be compared.
function sharedScales(clouds, {wide, high}) {
    const domain = (name) => {
        const extents = clouds
            .filter(({pairs}) => pairs.at.length > 0)
            .map((cloud) => extentOf(cloud[name], cloud.pairs.at));
        return roomy(
            extents.length > 0
                ? [
                      Math.min(...extents.map(([least]) => least)),
                      Math.max(...extents.map(([, most]) => most)),
                  ]
                : [0, 1],
        );
    };
    return {x: scaleLinear(domain('x'), [0, wide]), y: scaleLinear(domain('y'), [high, 0])};
}

function render(container, context) {
    const {colours, signal, width, height} = context;
    const {having, note} = comparable(context.tables);
    const distance = optionField(context, 'cloud.x', 'distance', only('l2', 'l1'), 'l2');
    const correlation = optionField(
        context,
        'cloud.y',
        'against',
        only('pearson', 'cosine', 'dot'),
        'pearson',
    );
    const triangle = optionField(context, 'cloud.triangle', 'triangle', TRIANGLES, 'both');
    const turned = rotationIn(having[0]);
    const drawing = turned && drawingOf(context, having);
    const load = () =>
        Promise.all(
            having.map(async (table) => {
                const rows = rowsToCompare(table.totalRows);
                const which =
                    rows.length < table.totalRows
                        ? {chosen: rows}
                        : {first: 0, count: rows.length};
                if (turned) {
                    const scores = await loadScores(table, which, drawing, signal);
                    return [distancesOfPlaces(scores), scores];
                }
                return Promise.all(
                    [distance, correlation].map(({value}) =>
                        loadSimilarity(table, {metric: value, ...which}, signal),
                    ),
                );
            }),
        );
    return present(
        container,
        context,
        [
            ...(turned
                ? drawingControls(drawing, context)
                : [distance.field, correlation.field]),
            triangle.field,
        ],
        load,
        (place, loaded, news) => {
            const titles = titlesOf(having);
            const clouds = loaded.map(([x, y], side) => ({
                x,
                y,
                pairs: pairsOf(x, y, triangle.value),
                rowsBy: new Map(
                    Array.from({length: x.rows}, (_, row) => [x.numbers(row), row]),
                ),
                title: titles[side],
            }));
            const across = width < NARROW ? 1 : clouds.length;
            const wide =
                Math.floor(Math.max(width / across - (across > 1 ? 12 : 0), 200)) -
                MARGIN.left -
                MARGIN.right;
            const size = {wide, high: Math.min(wide, Math.max(LOW, height - AROUND))};
            const scales = sharedScales(clouds, size);
            const panels = clouds.map((cloud) =>
                createCloud({...cloud, scales}, size, context),
            );
            news.textContent = note;
            place.append(
                cloudNote(clouds, drawing, context.tables),
                legend(colours),
                h('div', {class: 'panels'}, ...panels.map(({element}) => element)),
                ...clouds.map((cloud, side) =>
                    newsOf(cloud, clouds.length > 1 ? `${'AB'[side]}: ` : '', triangle.value),
                ),
            );
            connect(panels, context);
        },
    );
}

export default {
    name: 'cloud',
    title: 'Cloud',
    // numbers of one column have no correlation
    options: ['x', 'y', 'triangle'],
    tools: ['row'],
    applies: (tensor, scheme) => hasSimilarity(tensor, scheme) && tensor.shape[1] > 1,
    render,
};
