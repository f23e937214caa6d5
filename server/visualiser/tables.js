// Tables: the windows of tensors that views draw.
import {WINDOW_ELEMENTS, describe, getElements} from './api.js';
import {loadAxes} from './axes.js';
import {reachOf, shortest} from './numbers.js';
import {axesOf, coordinatesOf, effectiveOf} from './schema.js';
import {findWavelengths} from './wavelength.js';

// of positions not 0, where nothing has turned yet and all encodings are alike
const FIRST_POSITION = 3;
export const beginningRow = (at, extent) =>
    at(0) === 0 ? Math.min(extent - 1, FIRST_POSITION) : 0;

const KEPT_BYTES = 96 * 2 ** 20; // of windows that were looked at before

// A matrix of elements: rows [firstRow, firstRow + rows) of a slice of a tensor.
//
//   data            a typed array of rows * columns elements, row-major; f16 and bf16 as
//                   Float32Array
//   dtype           'f32', 'f64', 'f16', 'bf16', 'i32'
//   tensor          {name, dtype, shape (of the whole), axes (a name for each), primary}
//   available       the scheme's documented tensors that these settings make
//   settings        {scheme: name, parameters: {name: text}}; `scheme` is the descriptor
//   effective       every known parameter as text, defaults included
//   totalRows       of the whole tensor; `slice` the indices of its leading axes
//   coordinates     for each axis of the tensor what its indices stand for: see axes.js
//   row, column     {axis, title, at(i)}: what an index of the window stands for
//   wavelengths     of the columns in positions, NaN where one is no wave; null until known
//                   (await `wavelengthsKnown`, which measures them) or where it has no sense
//   reply           {cache: 'hit' | 'miss', timing, bytes, milliseconds}; null for a difference
//   described       all tensors of these settings: see describe
export class Table {
    constructor(fields) {
        Object.assign(this, fields);
    }
    value(row, column) {
        return this.data[row * this.columns + column];
    }
    // The shortest digits of an element in its type.
    text(row, column) {
        return shortest(this.dtype, this.value(row, column));
    }
    // Another matrix of the same settings, of which nothing is known yet.
    with(fields) {
        return new Table({
            ...this,
            wavelengths: null,
            measuring: Promise.resolve(),
            knownExtent: null,
            knownConstant: undefined,
            leading: [],
            slice: [],
            ...fields,
        });
    }
    get wavelengthsKnown() {
        this.measuring ??= this.measure(this).then(
            (wavelengths) => {
                this.wavelengths = wavelengths;
            },
            () => {},
        );
        return this.measuring;
    }
    // Least and greatest finite values; [0, 0] if there is none.
    get extent() {
        this.knownExtent ??= reachOf(this.data) ?? [0, 0];
        return this.knownExtent;
    }
    // The value that all elements have, or null.
    get constant() {
        if (this.knownConstant === undefined) {
            const [first] = this.data;
            this.knownConstant = this.data.every((value) => value === first) ? first : null;
        }
        return this.knownConstant;
    }
}

const kept = new Map(); // by address and window, the one used last at the end
let keptBytes = 0;

function keep(key, reply) {
    kept.set(key, reply);
    keptBytes += reply.bytes;
    for (const [oldest, {bytes}] of kept) {
        if (keptBytes <= KEPT_BYTES || oldest === key) break;
        kept.delete(oldest);
        keptBytes -= bytes;
    }
}

// Elements [first, first + count) of a tensor, requested once and then cached: see getElements.
export async function elements(settings, tensor, first, count, options) {
    const key = JSON.stringify([settings, tensor.name, first, count]);
    let reply = kept.get(key);
    if (reply) {
        keptBytes -= reply.bytes;
        kept.delete(key);
    } else {
        reply = await getElements(settings, tensor, first, count, options);
    }
    keep(key, reply);
    return reply;
}

const clamp = (value, least, most) => Math.max(least, Math.min(Math.trunc(value) || 0, most));

// A tensor as rows and columns: its last two axes (a vector is one column), and the leading
// ones.
function shapeOf({shape}) {
    const [rows, columns] = shape.length === 1 ? [shape[0], 1] : shape.slice(-2);
    return {rows, columns, leading: shape.slice(0, -2)};
}

const flatShapeOf = ({shape: [rows, ...rest]}) => ({
    rows,
    columns: rest.reduce((product, extent) => product * extent, 1),
    leading: [],
});

// Which index of a leading axis is shown first.
const firstIndex = (axis, extent, effective) =>
    axis === 'n' ? beginningRow(coordinatesOf(axis, effective), extent) : 0;

// Load a window. options: {tensor, slice: "0,3", row, signal, progress(received, size)};
// further {rows} to ask for fewer rows than fit, {waves: false} where nobody asks for
// wavelengths, {described} of a table of the same settings, so that it is not asked for again;
// {flat: true} takes the first axis as rows and all others as columns. Throws a Problem, or an
// AbortError if cancelled.
export async function loadTable(
    scheme,
    settings,
    {
        tensor: name,
        slice: text = '',
        row = 0,
        rows: most = Infinity,
        flat = false,
        waves = true,
        described: known,
        signal,
        progress,
    } = {},
) {
    const described = known ?? (await describe(settings, signal));
    const available = scheme.tensors.filter((each) =>
        described.tensors.some((made) => made.name === each.name),
    );
    const documented = available.find((each) => each.name === name) ?? available[0];
    const tensor = described.tensors.find((each) => each.name === documented.name);
    const effective = effectiveOf(scheme, settings.parameters);
    tensor.axes = axesOf(documented.shape, tensor.shape, effective);
    tensor.primary = Boolean(documented.primary);
    const {
        rows: totalRows,
        columns: width,
        leading,
    } = flat ? flatShapeOf(tensor) : shapeOf(tensor);
    const indices = leading.map((extent, i) => {
        const asked = String(text).split(',')[i];
        return asked
            ? clamp(Number(asked), 0, extent - 1)
            : firstIndex(tensor.axes[i], extent, effective);
    });
    const columns = Math.min(width, WINDOW_ELEMENTS);
    const rows = Math.max(1, Math.min(totalRows, most, Math.floor(WINDOW_ELEMENTS / width)));
    const firstRow = clamp(Number(row), 0, totalRows - rows);
    const plane = indices.reduce((index, each, i) => index * leading[i] + each, 0);
    const part = (made, first, count) => elements(settings, made, first, count, {signal});
    const [{data, ...sent}, coordinates] = await Promise.all([
        elements(settings, tensor, (plane * totalRows + firstRow) * width, rows * columns, {
            signal,
            progress,
        }),
        loadAxes(
            {
                tensor,
                tensors: described.tensors,
                documents: available,
                effective,
                elements: part,
            },
            [firstRow, rows],
        ),
    ]);
    const reply =
        described.cache === 'miss' && !known
            ? {...sent, cache: 'miss', timing: described.timing}
            : sent;
    const vector = tensor.shape.length === 1;
    const rowAxis = coordinates.at(vector || flat ? 0 : -2);
    return new Table({
        scheme,
        settings,
        effective,
        tensor,
        available,
        described,
        dtype: tensor.dtype,
        data,
        rows,
        columns,
        totalRows,
        firstRow,
        slice: indices,
        leading,
        reply,
        wavelengths: null,
        coordinates,
        row: {...rowAxis, at: (i) => rowAxis.at(firstRow + i)},
        column: vector ? {axis: '', title: '', at: () => 0} : coordinates.at(-1),
        measure: (table) =>
            waves ? findWavelengths(table, elements, signal) : Promise.resolve(null),
    });
}
