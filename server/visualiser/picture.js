// The picture of a view as an SVG file: what is drawn on the page and the texts that belong to
// it. Its controls are hidden for that moment (class "taken").
import {Recorder, imageOf, textWidth, vector} from './vector.js';

const PAD = 12;
const LINE = 17;
const LEAST = 500; // pixels of width, for the caption
const FONT = '12px system-ui, sans-serif';

const isClear = (colour) => /^(transparent|rgba\(.*, 0\)|.*\/ 0\))$/.test(colour);

// Each line of a text as it is broken on the page: {text, box}.
function linesOf(node) {
    const range = document.createRange();
    const lines = [];
    for (const {0: word, index} of node.data.matchAll(/\S+\s*/g)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.trimEnd().length);
        const box = range.getBoundingClientRect();
        const last = lines.at(-1);
        if (last && Math.abs(box.top - last.box.top) < box.height / 2) last.text += word;
        else lines.push({text: word, box});
    }
    return lines;
}

// Where a box lies in a drawing, which grows to hold it.
function placed(drawing, {left, top, width, height}) {
    const there = {left: left - drawing.left, top: top - drawing.top, width, height};
    drawing.width = Math.max(drawing.width, there.left + width);
    drawing.height = Math.max(drawing.height, there.top + height);
    return there;
}

function drawText(node, style, drawing) {
    const size = parseFloat(style.fontSize);
    const whole = document.createRange();
    whole.selectNode(node);
    placed(drawing, whole.getBoundingClientRect());
    return linesOf(node).map(({text, box: {left, top, height}}) =>
        vector(
            'text',
            {
                x: left - drawing.left,
                y: top - drawing.top + height / 2 + 0.35 * size,
                fill: style.color,
                'font-size': size,
                'font-family': style.fontFamily,
                'font-weight': style.fontWeight === '400' ? null : style.fontWeight,
            },
            text.trimEnd(),
        ),
    );
}

// A sample of a colour or of a line in a legend: an element with a background or a border, but
// without content.
function drawSample(style, there) {
    const border = parseFloat(style.borderTopWidth);
    const line = border > 0 && style.borderTopStyle !== 'none';
    if (isClear(style.backgroundColor) && !line) return [];
    const {left: x, top: y, width, height} = there();
    if (line && height <= border)
        return [
            vector('path', {
                d: `M${x} ${y + border / 2}h${width}`,
                stroke: style.borderTopColor,
                'stroke-width': border,
                'stroke-dasharray': style.borderTopStyle === 'dashed' ? '6 4' : null,
            }),
        ];
    const inset = line ? border / 2 : 0;
    const round = style.borderTopLeftRadius.endsWith('%')
        ? width / 2
        : parseFloat(style.borderTopLeftRadius) || null;
    return [
        vector('rect', {
            x: x + inset,
            y: y + inset,
            width: width - 2 * inset,
            height: height - 2 * inset,
            rx: round,
            fill: isClear(style.backgroundColor) ? 'none' : style.backgroundColor,
            stroke: line ? style.borderTopColor : null,
            'stroke-width': line ? border : null,
        }),
    ];
}

function drawCanvas(canvas, {left: x, top: y, width, height}) {
    if (!canvas.redraw) return [vector('image', {...imageOf(canvas), x, y, width, height})];
    const recorder = new Recorder();
    canvas.redraw(recorder);
    recorder.root.setAttribute(
        'transform',
        `translate(${x} ${y}) scale(${width / canvas.width} ${height / canvas.height})`,
    );
    return [recorder.root];
}

// A chart that is SVG already, without its cursor and what only a screen needs.
function drawChart(chart, style, {left: x, top: y, width, height}) {
    const copy = chart.cloneNode(true);
    for (const each of copy.querySelectorAll('[visibility=hidden], style')) each.remove();
    for (const each of [copy, ...copy.querySelectorAll('*')])
        for (const name of [
            'class',
            'tabindex',
            'style',
            'role',
            'aria-label',
            'data-mark',
            'aria-hidden',
        ])
            each.removeAttribute(name);
    for (const [name, value] of Object.entries({
        x,
        y,
        width,
        height,
        color: style.color,
        fill: chart.getAttribute('fill') ?? style.fill,
        'font-size': parseFloat(style.fontSize),
        'font-family': style.fontFamily,
        overflow: 'visible',
    }))
        copy.setAttribute(name, value);
    return [copy];
}

// The elements of a part of the page.
function draw(element, drawing) {
    if (!element.checkVisibility({visibilityProperty: true})) return [];
    const style = getComputedStyle(element),
        there = () => placed(drawing, element.getBoundingClientRect());
    if (element instanceof HTMLCanvasElement) return drawCanvas(element, there());
    if (element instanceof SVGSVGElement) return drawChart(element, style, there());
    if (element.childNodes.length === 0) return drawSample(style, there);
    return [...element.childNodes].flatMap((node) =>
        node instanceof Element
            ? draw(node, drawing)
            : node instanceof Text && node.data.trim()
              ? drawText(node, style, drawing)
              : [],
    );
}

// A text broken into lines of a width.
function broken(text, width) {
    const lines = [''];
    for (const word of text.split(' ')) {
        const longer = `${lines.at(-1)} ${word}`.trim();
        if (lines.at(-1) === '' || textWidth(longer, FONT).width <= width)
            lines[lines.length - 1] = longer;
        else lines.push(word);
    }
    return lines;
}

// {elements, width, height} of what a view draws.
function drawingOf(element) {
    element.classList.add('taken');
    const {left, top} = element.getBoundingClientRect();
    const drawing = {left, top, width: LEAST, height: 0};
    drawing.elements = draw(element, drawing);
    element.classList.remove('taken');
    return drawing;
}

// {svg: text of a file, width, height}. `caption` has a text for each paragraph below the
// picture.
export function pictureOf(element, {title, caption, colours}) {
    const drawing = drawingOf(element);
    const lines = caption.flatMap((text) => broken(text, drawing.width));
    const width = Math.ceil(drawing.width) + 2 * PAD,
        top = drawing.height + 2 * PAD;
    const height = Math.ceil(top + lines.length * LINE + PAD);
    const texts = lines.map((text, i) =>
        vector(
            'text',
            {
                x: PAD,
                y: top + (i + 1) * LINE - 4,
                fill: colours.quiet,
                'font-size': 12,
                'font-family': 'system-ui, sans-serif',
            },
            text,
        ),
    );
    const svg = vector(
        'svg',
        {width, height, viewBox: `0 0 ${width} ${height}`},
        vector('title', {}, title),
        vector('rect', {width, height, fill: colours.paper}),
        vector('g', {transform: `translate(${PAD} ${PAD})`}, ...drawing.elements),
        ...texts,
    );
    return {svg: new XMLSerializer().serializeToString(svg), width, height};
}

// The picture as pixels, `scale` of them for each of its own.
export async function pixelsOf({svg, width, height}, scale) {
    const address = URL.createObjectURL(new Blob([svg], {type: 'image/svg+xml'}));
    try {
        const image = new Image();
        image.src = address;
        await image.decode();
        const canvas = document.createElement('canvas');
        Object.assign(canvas, {width: width * scale, height: height * scale});
        canvas
            .getContext('2d', {willReadFrequently: true})
            .drawImage(image, 0, 0, canvas.width, canvas.height);
        return canvas;
    } finally {
        URL.revokeObjectURL(address);
    }
}
