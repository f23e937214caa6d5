// One dial of the rotation view: a unit circle with the vectors of one pair, drawn to their
// true length.

const RIM = 7; // pixels from the outermost vector to the edge
const TIP = 3.5;

function circle(context, centre, radius, colour, dashes = []) {
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.setLineDash(dashes);
    context.beginPath();
    context.arc(centre, centre, radius, 0, 2 * Math.PI);
    context.stroke();
    context.setLineDash([]);
}

// The tip of A is round and that of B square, so that they differ without their colours as
// well.
function tip(context, side, x, y, size) {
    context.beginPath();
    if (side === 0) context.arc(x, y, size, 0, 2 * Math.PI);
    else context.rect(x - size, y - size, 2 * size, 2 * size);
    context.fill();
}

// The angles that were seen in training, from 0 to `angle`.
function sector(context, centre, radius, angle, colour) {
    context.fillStyle = colour;
    context.globalAlpha = 0.16;
    context.beginPath();
    context.moveTo(centre, centre);
    context.arc(centre, centre, radius, 0, -angle, true);
    context.fill();
    context.globalAlpha = 1;
}

// The canvas remembers how to draw it again (see vector.js).
// state: {vectors: [{side, x, y, trace: [x, y, …] from old to new}], reach: the longest vector,
// trained: angle or null, beyond}.
export function drawDial(canvas, size, state, colours) {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const pixels = Math.round(size * ratio);
    if (canvas.width !== pixels) canvas.width = canvas.height = pixels;
    canvas.redraw = (context) => paintDial(context, {size, ratio}, state, colours);
    canvas.redraw(canvas.getContext('2d'));
}

function paintDial(context, {size, ratio}, {vectors, reach, trained, beyond}, colours) {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size, size);
    const centre = size / 2,
        unit = (centre - RIM) / reach;
    if (trained != null) sector(context, centre, unit, trained, colours.quiet);
    context.fillStyle = colours.grid;
    context.fillRect(centre - unit, centre - 0.5, 2 * unit, 1);
    context.fillRect(centre - 0.5, centre - unit, 1, 2 * unit);
    circle(context, centre, unit, beyond ? colours.mark : colours.quiet, beyond ? [4, 3] : []);
    for (const {side, x, y, trace} of vectors) {
        context.fillStyle = context.strokeStyle = side === 0 ? colours.left : colours.right;
        for (let i = 0; i < trace.length; i += 2) {
            context.globalAlpha = 0.1 + (0.5 * i) / trace.length;
            tip(context, side, centre + trace[i] * unit, centre - trace[i + 1] * unit, 1.8);
        }
        context.globalAlpha = 1;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(centre, centre);
        context.lineTo(centre + x * unit, centre - y * unit);
        context.stroke();
        tip(context, side, centre + x * unit, centre - y * unit, TIP);
    }
}
