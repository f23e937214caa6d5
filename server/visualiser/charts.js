// Line charts that several views share: Observable Plot draws them; a cursor moves over one or
// several linked charts by pointer and keyboard.
//
// A series: {name, colour, dashed: true or its dashes, length, x(i) ascending, y(i)}, `dots`
// for points instead of a line, `ring` for a ring around a point, `strong` for the one that is
// highlighted and `faint` for the others. A line has a dot on each of its points if these are
// apart; `curve`, a series too, is what is drawn between them in place of straight lines.
//
// Views that draw charts say so (`charts: true`): Plot is there when they render.
import {h, isModified} from './dom.js';
import {brief, countedFrom, originOf} from './numbers.js';

const SVG = 'http://www.w3.org/2000/svg';
const MARGIN = {marginLeft: 58, marginRight: 14, marginTop: 22, marginBottom: 40};
const STEPS = {
    ArrowLeft: -1,
    ArrowRight: 1,
    PageUp: -16,
    PageDown: 16,
    Home: -Infinity,
    End: Infinity,
};
const MOST_DOTS = 1500; // beyond, dots are small
const APART = 6; // pixels between points that have a dot each

const finite = (value) => (Number.isFinite(value) ? value : NaN);

// The index of the first x >= value.
function indexFrom({length, x}, value) {
    let low = 0,
        high = length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (x(middle) < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The index of an x, or -1.
export function indexOf(series, value) {
    const i = indexFrom(series, value);
    return i < series.length && series.x(i) === value ? i : -1;
}

// The points of a series. If many share a pixel, only the least and the greatest of them.
function pointsOf(series, width) {
    const {length, x, y} = series;
    const points = [];
    if (length <= 4 * width || series.dots || series.ring) {
        for (let i = 0; i < length; i++) points.push([x(i), finite(y(i))]);
        return points;
    }
    for (let pixel = 0; pixel < width; pixel++) {
        const first = Math.floor((pixel * length) / width),
            end = Math.floor(((pixel + 1) * length) / width);
        let least = -1,
            most = -1;
        for (let i = first; i < end; i++) {
            const value = y(i);
            if (!Number.isFinite(value)) continue;
            if (least < 0 || value < y(least)) least = i;
            if (most < 0 || value > y(most)) most = i;
        }
        if (least < 0)
            points.push([x(first), NaN]); // a gap
        else
            for (const i of least < most ? [least, most] : [most, least])
                points.push([x(i), y(i)]);
    }
    return points;
}

// Least and greatest finite values of all series, or [0, 1].
export function reachOf(series, along = 'y') {
    let least = Infinity,
        most = -Infinity;
    for (const each of series)
        for (let i = 0; i < each.length; i++) {
            const value = each[along](i);
            if (value < least && value !== -Infinity) least = value;
            if (value > most && value !== Infinity) most = value;
        }
    return least > most ? [0, 1] : least === most ? [least - 0.5, most + 0.5] : [least, most];
}

// A domain with a little room above and below.
export function roomy([from, to]) {
    const room = (to - from) * 0.04;
    return [from - room, to + room];
}

// The decades that hold all values above 0; [0.1, 1] without any.
export function decadesOf(values) {
    let least = Infinity,
        most = 0;
    for (const value of values) {
        if (value > 0 && value < least) least = value;
        if (value > most && value < Infinity) most = value;
    }
    if (most === 0) return [0.1, 1];
    const from = Math.floor(Math.log10(least)),
        to = Math.ceil(Math.log10(most));
    return [Number(`1e${from}`), Number(`1e${Math.max(to, from + 1)}`)];
}

const briefPower = (x) => (x >= 1e6 ? x.toExponential().replace('e+', 'e') : brief(x));

// Powers of ten within decades, as many as fit.
function powersOf([from, to], most) {
    const first = Math.ceil(Math.log10(from)),
        last = Math.floor(Math.log10(to));
    const step = Math.max(1, Math.ceil((last - first) / Math.max(2, most)));
    return Array.from({length: Math.floor((last - first) / step) + 1}, (_, i) =>
        Number(`1e${first + i * step}`),
    );
}

// A mark of `rules`, {x or y, text, colour, faint}, with its text if that fits.
function ruleMarks({rules = [], colours, x, y}) {
    const within = (value, [from, to]) => value >= from && value <= to;
    return rules
        .filter((each) => ('x' in each ? within(each.x, x.domain) : within(each.y, y.domain)))
        .flatMap((each) => {
            const {ruleX, ruleY, text} = globalThis.posencPlot;
            const stroke = each.colour ?? colours.mark;
            const halo = {
                text: [each.text],
                fill: stroke,
                stroke: colours.paper,
                strokeWidth: 4,
            };
            if ('y' in each)
                return [
                    ruleY([each.y], {stroke, strokeWidth: 2}),
                    text([each.y], {
                        ...halo,
                        y: [each.y],
                        frameAnchor: 'right',
                        dy: -8,
                        textAnchor: 'end',
                    }),
                ];
            const late = each.x > (x.domain[0] + x.domain[1]) / 2;
            return [
                ruleX([each.x], {
                    stroke,
                    strokeWidth: 2,
                    strokeOpacity: each.faint ? 0.35 : null,
                }),
                text([each.x], {
                    ...halo,
                    x: [each.x],
                    frameAnchor: 'top',
                    dy: 6,
                    dx: late ? -5 : 5,
                    textAnchor: late ? 'end' : 'start',
                }),
            ];
        });
}

const isDotted = ({length}, width) => length > 1 && length * APART <= width;

const lineMark = (series, width) =>
    globalThis.posencPlot.line(pointsOf(series.curve ?? series, width), {
        x: '0',
        y: '1',
        stroke: series.colour,
        strokeWidth: series.strong
            ? 3.5
            : isDotted(series, width)
              ? 1
              : series.dashed
                ? 1.8
                : 1.5,
        strokeOpacity: series.faint ? 0.4 : null,
        strokeDasharray: series.dashed === true ? '6 4' : series.dashed || null,
    });
// The points themselves, of such a size.
const pointsMark = (series, width, r, look) =>
    globalThis.posencPlot.dot(pointsOf(series, width), {
        x: '0',
        y: '1',
        stroke: series.colour,
        fill: series.dashed ? 'none' : series.colour,
        fillOpacity: series.faint ? 0.4 : null,
        strokeOpacity: series.faint ? 0.4 : null,
        r,
        ...look,
    });
function marksOf(series, width) {
    const {ring, dots, dashed, strong, length} = series;
    if (ring) return [pointsMark(series, width, 9, {strokeWidth: 2, fill: 'none'})];
    if (dots) return [pointsMark(series, width, length > MOST_DOTS ? 1 : dashed ? 4 : 2.5)];
    if (!isDotted(series, width)) return [lineMark(series, width)];
    const values = pointsMark(series, width, strong ? 3.5 : 2.2, {strokeWidth: 1});
    return [lineMark(series, width), values];
}

function element(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
}

// A group without a role may have no label: its mark is its `data-mark`.
function nameMarks(svg) {
    for (const each of svg.querySelectorAll('[aria-label]')) {
        each.dataset.mark = each.getAttribute('aria-label');
        each.removeAttribute('aria-label');
    }
    return svg;
}

// How many ticks an axis has at most; between whole numbers there are none.
function ticksFor(most, [from, to], series) {
    const wanted = Math.max(2, Math.round(most));
    const whole = series.every(({length, x}) =>
        [0, 1, length - 1].every((i) => i < 0 || i >= length || Number.isInteger(x(i))),
    );
    return whole ? Math.max(1, Math.min(wanted, Math.floor(to - from))) : wanted;
}

// x, y: {title, type: 'linear' | 'log', domain}; label: the text alternative; with an id it
// keeps the focus where it is drawn anew. {element, show(x)}.
export function createChart({series, x, y, rules, colours, label, width, height = 320, id}) {
    const axis = (
        {title, type = 'linear', domain},
        pixels,
        origin = type === 'log' ? 0 : originOf(...domain),
    ) => ({
        type,
        domain,
        label: countedFrom(title, origin),
        labelAnchor: 'center',
        labelArrow: 'none',
        tickFormat: type === 'log' ? briefPower : (value) => brief(value - origin),
        ticks: type === 'log' ? powersOf(domain, pixels) : Math.max(2, Math.round(pixels)),
    });
    const svg = globalThis.posencPlot.plot({
        ...MARGIN,
        width,
        height,
        ariaLabel: label,
        className: 'plot-chart',
        style: {
            background: 'transparent',
            color: colours.ink,
            fontSize: '12px',
            fontFamily: 'inherit',
        },
        x: {
            ...axis(x, width / 90),
            ...(x.type === 'log' ? {} : {ticks: ticksFor(width / 90, x.domain, series)}),
        },
        y: {...axis(y, height / 50), labelAnchor: 'top', labelArrow: 'none', grid: true},
        marks: [
            ...series.flatMap((each) => marksOf(each, width)),
            ...ruleMarks({rules, colours, x, y}),
        ],
    });
    svg.setAttribute('role', 'img');
    svg.setAttribute('tabindex', '0');
    svg.classList.add('chart');
    if (id) svg.id = id;
    nameMarks(svg);
    const [across, along] = [svg.scale('x'), svg.scale('y')];
    const cursor = svg.appendChild(
        element('g', {class: 'chart-cursor', visibility: 'hidden', 'pointer-events': 'none'}),
    );
    const rule = cursor.appendChild(
        element('line', {
            y1: MARGIN.marginTop,
            y2: height - MARGIN.marginBottom,
            stroke: colours.ink,
            'stroke-width': 1.5,
        }),
    );
    const rings = series.map(({colour}) =>
        cursor.appendChild(
            element('circle', {r: 4, fill: colour, stroke: colours.paper, 'stroke-width': 1.5}),
        ),
    );

    function show(at) {
        cursor.setAttribute('visibility', at == null ? 'hidden' : 'visible');
        if (at == null) return;
        for (const end of ['x1', 'x2']) rule.setAttribute(end, across.apply(at));
        series.forEach((each, k) => {
            const i = indexOf(each, at);
            const value = i < 0 ? NaN : finite(each.y(i));
            const shown = !Number.isNaN(value);
            rings[k].setAttribute('visibility', shown ? 'inherit' : 'hidden');
            if (!shown) return;
            rings[k].setAttribute('cx', across.apply(at));
            rings[k].setAttribute('cy', along.apply(value));
        });
    }
    // The value of x under the pointer.
    const invert = (clientX) => {
        const box = svg.getBoundingClientRect();
        return across.invert(((clientX - box.left) / box.width) * width);
    };
    return {element: svg, series, show, invert};
}

// The x of any series next to `at`, or `at` itself where there is none.
function neighbour(all, at, direction) {
    let best = null;
    for (const series of all) {
        let i = indexFrom(series, at);
        if (direction < 0) i--;
        else while (i < series.length && series.x(i) === at) i++;
        if (i < 0 || i >= series.length) continue;
        const found = series.x(i);
        if (best == null || (found - best) * direction < 0) best = found;
    }
    return best ?? at;
}

function nearest(all, wanted) {
    const around = all.flatMap((series) => {
        const i = indexFrom(series, wanted);
        return [i - 1, i]
            .filter((each) => each >= 0 && each < series.length)
            .map((each) => series.x(each));
    });
    return around.length === 0
        ? null
        : around.reduce((best, each) =>
              Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best,
          );
}

// One cursor over linked charts; `tell(x)` is called with an x of the series, or null;
// `choose(x)`, if any, where a click or Enter chooses it.
export function linkCharts(charts, {tell, choose, signal}) {
    const all = charts.flatMap(({series}) => series).filter(({length}) => length > 0);
    let at = null;
    function point(to) {
        at = to;
        for (const chart of charts) chart.show(to);
        tell(to);
    }
    function move(steps) {
        if (all.length === 0) return;
        if (at == null || Math.abs(steps) === Infinity) {
            const ends = all.map(({length, x}) => x(steps === Infinity ? length - 1 : 0));
            return point(steps === Infinity ? Math.max(...ends) : Math.min(...ends));
        }
        let to = at;
        for (let i = 0; i < Math.abs(steps); i++) to = neighbour(all, to, Math.sign(steps));
        point(to);
    }
    for (const chart of charts) {
        const {element: svg} = chart;
        svg.addEventListener(
            'pointermove',
            ({clientX}) => point(nearest(all, chart.invert(clientX))),
            {signal},
        );
        if (choose) {
            svg.addEventListener(
                'click',
                ({clientX}) => choose(nearest(all, chart.invert(clientX))),
                {signal},
            );
            svg.classList.add('chart-choice');
        }
        svg.addEventListener('pointerleave', () => point(null), {signal});
        svg.addEventListener('pointerdown', () => svg.focus({preventScroll: true}), {signal});
        svg.addEventListener(
            'keydown',
            (event) => {
                if (isModified(event)) return;
                if (event.key === 'Enter' && at != null) choose?.(at);
                if (!(event.key in STEPS)) return;
                event.preventDefault();
                move(STEPS[event.key]);
            },
            {signal},
        );
    }
}

// How a line is drawn.
export function sampleOf({colour, dashed, dots}) {
    const style = dashed === true ? 'dashed' : dashed ? 'dotted' : 'solid';
    const sample = h('span', {
        class: `${dots ? 'chart-dot ' : ''}chart-${style}`,
        'aria-hidden': 'true',
    });
    sample.style.borderColor = colour;
    if (dots && !dashed) sample.style.background = colour;
    return sample;
}

// A legend of the lines: [{name, colour, dashed, dots, strong, more: an element}].
export const legendOf = (entries) =>
    h(
        'ul',
        {class: 'chart-legend'},
        ...entries.map(({name, strong, more, ...line}) =>
            h('li', {class: strong ? 'chart-strong' : null}, sampleOf(line), name, more),
        ),
    );

// A chart with its title.
export const titled = (title, chart) =>
    h('figure', {class: 'chart-figure'}, h('figcaption', {}, title), chart.element);
