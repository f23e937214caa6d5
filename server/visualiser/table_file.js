// Tables in files that a visitor opens: what the header of an npy or safetensors file says, and
// elements to draw. The service reads the file itself; here only what a picture needs is read,
// and of JSON the names.
import {WINDOW_ELEMENTS} from './api.js';
import {decode} from './numbers.js';

const TYPES = {
    npy: 'application/x-npy',
    safetensors: 'application/vnd.safetensors',
    csv: 'text/csv',
    json: 'application/json',
};
const HEADER_MOST = 2 ** 20; // bytes

export const mediaTypeOf = ({name}) => TYPES[name.split('.').pop().toLowerCase()];
// JSON also of a model's config, which has neither.
export const isTableFile = async (file) =>
    mediaTypeOf(file) === TYPES.json
        ? /^\s*\[|"tensors"\s*:/.test(await file.text())
        : mediaTypeOf(file) != null;

// By the codes of numpy and of safetensors: bytes of an element, and its array.
const INTEGERS = {
    i1: [1, Int8Array],
    u1: [1, Uint8Array],
    b1: [1, Uint8Array],
    i2: [2, Int16Array],
    u2: [2, Uint16Array],
    u4: [4, Uint32Array],
    i8: [8, BigInt64Array],
    u8: [8, BigUint64Array],
};
const REALS = {
    f2: ['f16', 2],
    f4: ['f32', 4],
    f8: ['f64', 8],
    i4: ['i32', 4],
    bf2: ['bf16', 2],
};
const CODES = {
    F64: 'f8',
    F32: 'f4',
    F16: 'f2',
    BF16: 'bf2',
    I64: 'i8',
    I32: 'i4',
    I16: 'i2',
    I8: 'i1',
    U64: 'u8',
    U32: 'u4',
    U16: 'u2',
    U8: 'u1',
    BOOL: 'b1',
};

const sizeOf = (code) => REALS[code]?.[1] ?? INTEGERS[code]?.[0];
const productOf = (shape) => shape.reduce((product, extent) => product * extent, 1);

function decodeAny(code, buffer) {
    if (REALS[code]) return decode(REALS[code][0], buffer);
    const values = new INTEGERS[code][1](buffer);
    return values instanceof BigInt64Array || values instanceof BigUint64Array
        ? Float64Array.from(values, Number)
        : Float64Array.from(values);
}

// The layout of an npy file: {code, shape, fortran, start}; null where it is none that is drawn
// here.
export async function npyLayout(file) {
    const head = new DataView(await file.slice(0, 12).arrayBuffer());
    if (head.byteLength < 12 || head.getUint32(0) !== 0x934e554d) return null;
    const long = head.getUint8(6) > 1;
    const first = long ? 12 : 10,
        length = long ? head.getUint32(8, true) : head.getUint16(8, true);
    if (length > HEADER_MOST) return null;
    const text = await file.slice(first, first + length).text();
    const code = /'descr':\s*'[<|]([fiub]\d)'/.exec(text)?.[1],
        shape = /'shape':\s*\(([\d, ]*)\)/.exec(text)?.[1];
    if (!code || shape == null || !sizeOf(code)) return null;
    return {
        code,
        shape: shape
            .split(',')
            .filter((each) => each.trim())
            .map(Number),
        fortran: /'fortran_order':\s*True/.test(text),
        start: first + length,
    };
}

// The tensors of a safetensors file by name: {NAME: {code, shape, fortran, start}}; a `code` of
// null is not drawn here.
export async function safetensorsLayouts(file) {
    const head = new DataView(await file.slice(0, 8).arrayBuffer());
    const length = head.byteLength === 8 ? Number(head.getBigUint64(0, true)) : Infinity;
    if (length > HEADER_MOST) return {};
    let header;
    try {
        header = JSON.parse(await file.slice(8, 8 + length).text());
    } catch {
        return {};
    }
    return Object.fromEntries(
        Object.entries(header)
            .filter(([name]) => name !== '__metadata__')
            .map(
                ([
                    name,
                    {
                        dtype,
                        shape,
                        data_offsets: [begin],
                    },
                ]) => [
                    name,
                    {
                        code: CODES[dtype] ?? null,
                        shape,
                        fortran: false,
                        start: 8 + length + begin,
                    },
                ],
            ),
    );
}

// The same of every kind of file; a table without a name has none, or ''.
export async function layoutsOf(file) {
    const type = mediaTypeOf(file);
    if (type === TYPES.npy) return {'': await npyLayout(file).catch(() => null)};
    if (type === TYPES.json) {
        const {tensors = []} = JSON.parse(await file.text());
        return Object.fromEntries(tensors.map(({name}) => [name, null]));
    }
    return type === TYPES.csv ? {} : safetensorsLayouts(file);
}

// The matrix of the last two axes, or the first one of several: {rows, columns}; a vector is
// one column.
const matrixOf = (shape) =>
    shape.length === 0
        ? {rows: 1, columns: 1}
        : shape.length === 1
          ? {rows: shape[0], columns: 1}
          : {rows: shape.at(-2), columns: shape.at(-1)};

// The first rows of a table as a matrix {rows, columns, data: Float64Array or another array of
// numbers}; null where it cannot be drawn. Axes of size 1 count for nothing. `transposed`:
// columns and rows change places.
export async function readMatrix(file, {code, shape, fortran, start}, transposed) {
    const extents = shape.filter((extent) => extent !== 1);
    const {rows, columns} = matrixOf(extents);
    const size = sizeOf(code),
        turned = (fortran && extents.length > 1) !== transposed;
    const whole = productOf(extents);
    if (
        !size ||
        (turned && (extents.length !== 2 || whole > WINDOW_ELEMENTS)) ||
        columns > WINDOW_ELEMENTS
    )
        return null;
    if (!turned && !(fortran && transposed)) {
        const shown = Math.max(1, Math.min(rows, Math.floor(WINDOW_ELEMENTS / columns)));
        return {
            rows: shown,
            columns,
            data: decodeAny(
                code,
                await file.slice(start, start + shown * columns * size).arrayBuffer(),
            ),
        };
    }
    if (whole > WINDOW_ELEMENTS) return null;
    const stored = decodeAny(code, await file.slice(start, start + whole * size).arrayBuffer());
    const [wide, high] = transposed ? [rows, columns] : [columns, rows];
    // Fortran's order of the transposed table is C's of the other
    if (!turned) return {rows: high, columns: wide, data: stored};
    const data = new Float64Array(whole);
    const at = (row, column) => column * high + row;
    for (let row = 0; row < high; row++)
        for (let column = 0; column < wide; column++)
            data[row * wide + column] = stored[at(row, column)];
    return {rows: high, columns: wide, data};
}
