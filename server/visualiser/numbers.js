// Numbers of the tensors' element types: decoding, rounding, and their shortest digits.

// Bits of the significand with the hidden one, and the exponent of the smallest normal number.
const FORMATS = {
    f16: {bits: 11, least: -14, most: 65504},
    bf16: {bits: 8, least: -126},
    f32: {bits: 24, least: -126},
    f64: {bits: 53, least: -1022},
};

export const BYTES = {f64: 8, f32: 4, f16: 2, bf16: 2, i32: 4};

// The exponent of |x|: 2^e <= |x| < 2^(e + 1).
export function exponentOf(x) {
    let e = Math.floor(Math.log2(Math.abs(x)));
    if (2 ** e > Math.abs(x)) e--;
    if (2 ** (e + 1) <= Math.abs(x)) e++;
    return e;
}

// A double rounded to an element type, halves to even.
export function round(dtype, x) {
    if (dtype === 'f64' || dtype === 'i32' || x === 0 || !Number.isFinite(x)) return x;
    if (dtype === 'f32') return Math.fround(x);
    const {bits, least, most = Infinity} = FORMATS[dtype];
    const quantum = 2 ** (Math.max(exponentOf(x), least) - bits + 1);
    const scaled = x / quantum; // exact
    const floor = Math.floor(scaled);
    const rest = scaled - floor;
    const rounded =
        (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor) * quantum;
    return Math.abs(rounded) > most ? Math.sign(x) * Infinity : rounded;
}

// The shortest decimal that rounds to the value in its type, as the service prints it.
export function shortest(dtype, value) {
    if (!Number.isFinite(value)) return String(value).replace('Infinity', '∞');
    if (value === 0) return Object.is(value, -0) ? '-0' : '0';
    if (dtype === 'f64' || dtype === 'i32') return String(value);
    for (let digits = 1; digits < 17; digits++) {
        const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
        const integer = BigInt(mantissa.replace('.', ''));
        const scale = Number(exponent) - digits + 1;
        // the nearest decimal; above a power of two the next one may lie closer to the wider
        // side
        for (const each of [integer, integer + (integer < 0n ? -1n : 1n)]) {
            const decimal = Number(`${each}e${scale}`);
            if (round(dtype, decimal) === value) return String(decimal);
        }
    }
    return String(value);
}

export const clamp = (value, least, most) => Math.max(least, Math.min(value, most));
export const sixDigits = (x) => String(Number(x.toPrecision(6)));

// A short text for axes and legends; not exact.
export function brief(x) {
    if (!Number.isFinite(x)) return String(x).replace('Infinity', '∞');
    const size = Math.abs(x);
    if (x !== 0 && (size < 1e-3 || size >= 1e7))
        return x
            .toExponential(2)
            .replace(/\.?0+e/, 'e')
            .replace('e+', 'e');
    return String(size >= 1e4 ? Math.round(x) : Number(x.toPrecision(5)));
}

// The number that labels of an axis are counted from, since far out they would all be alike.
export function originOf(from, to) {
    const power = 10 ** Math.ceil(Math.log10(Math.max(1, Math.abs(to - from))));
    const far = Math.abs(from) >= Math.max(1e6, 100 * power);
    return far ? Math.floor(Math.min(from, to) / power) * power : 0;
}

export const countedFrom = (title, origin) =>
    origin === 0 ? title : `${title} ${origin < 0 ? '+' : '−'} ${Math.abs(origin)}`;

// A number of bytes as text, with a unit.
export const byteText = (bytes) =>
    bytes < 1e4
        ? `${bytes} B`
        : bytes < 1e7
          ? `${(bytes / 1e3).toFixed(0)} kB`
          : `${(bytes / 1e6).toFixed(1)} MB`;

// Least and greatest finite values; null if there is none.
export function reachOf(data) {
    let least = Infinity,
        most = -Infinity;
    for (const value of data) {
        if (value < least && value !== -Infinity) least = value;
        if (value > most && value !== Infinity) most = value;
    }
    return least <= most ? [least, most] : null;
}

const scratch = new DataView(new ArrayBuffer(4));

function decodeHalf(bits) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 0x3ff;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

function decodeBrain(bits) {
    scratch.setUint32(0, bits << 16);
    return scratch.getFloat32(0);
}

function decodeEach(buffer, valueOf) {
    const bits = new Uint16Array(buffer);
    const values = new Float32Array(bits.length);
    for (let i = 0; i < bits.length; i++) values[i] = valueOf(bits[i]);
    return values;
}

const ARRAYS = {
    f64: (buffer) => new Float64Array(buffer),
    f32: (buffer) => new Float32Array(buffer),
    i32: (buffer) => new Int32Array(buffer),
    f16: (buffer) => decodeEach(buffer, decodeHalf),
    bf16: (buffer) => decodeEach(buffer, decodeBrain),
};

// The typed array of a raw body, which is little-endian as every browser's machine is. 16-bit
// types become a Float32Array, which holds each of their values.
export function decode(dtype, buffer) {
    return ARRAYS[dtype](buffer);
}
