// Measures the wavelengths of a table's columns. A wave of angular frequency w satisfies
// x(k - h) + x(k + h) = 2 cos(w h) x(k) for every amplitude and phase. The distance h grows
// until w h is large enough to be measured accurately. A column that does not satisfy this is
// not a wave of the position.

const COUNT = 16; // positions of one probe
const GROWTH = 16;
const ROUNDS = 13; // positions up to 2^52
const CLEAR = 0.05; // the least w h that is taken as final …
const FAINT = 1e-6; // … or in the last round: below, rounding is as large
const DIGITS = 10; // of a wavelength: those behind are rounding
const COLUMNS_MAX = 16384;

// cos(w h) of one column by least squares; NaN if the column is not a wave.
function cosineOf(data, columns, column) {
    let above = 0,
        below = 0,
        size = 0;
    const at = (i) => data[i * columns + column];
    for (let i = 1; i < COUNT - 1; i++) {
        above += at(i) * (at(i - 1) + at(i + 1));
        below += 2 * at(i) * at(i);
        size = Math.max(size, Math.abs(at(i)));
    }
    const cosine = above / below;
    for (let i = 1; i < COUNT - 1; i++)
        if (!(Math.abs(at(i - 1) + at(i + 1) - 2 * cosine * at(i)) <= 1e-11 * size)) return NaN;
    return cosine;
}

async function probe(table, distance, elements, signal) {
    const {settings, scheme, tensor} = table;
    const parameters = {...settings.parameters, dtype: 'f64'};
    for (const {name, unless} of scheme.parameters)
        if (unless === 'positions') delete parameters[name];
    parameters.positions = Array.from({length: COUNT}, (_, i) => i * distance).join();
    const probed = {...settings, parameters};
    const made = {name: tensor.name, dtype: 'f64', shape: [COUNT, table.columns]};
    return (await elements(probed, made, 0, COUNT * table.columns, {signal})).data;
}

// A Float64Array; null if the caller cannot choose the positions of the rows. `elements` is
// that of tables.js.
export async function findWavelengths(table, elements, signal) {
    const {scheme, tensor, columns} = table;
    if (tensor.shape.length !== 2 || tensor.axes[0] !== 'n' || columns > COLUMNS_MAX)
        return null;
    if (
        !/^f|^bf/.test(tensor.dtype) ||
        !scheme.parameters.some(({name}) => name === 'positions')
    )
        return null;
    const wavelengths = new Float64Array(columns).fill(NaN);
    let open = Array.from(wavelengths.keys());
    for (
        let round = 0, distance = 1;
        round < ROUNDS && open.length > 0;
        round++, distance *= GROWTH
    ) {
        const data = await probe(table, distance, elements, signal);
        open = open.filter((column) => {
            const turned = Math.acos(
                Math.max(-1, Math.min(1, cosineOf(data, columns, column))),
            );
            if (Number.isNaN(turned)) return false;
            wavelengths[column] =
                turned > FAINT
                    ? Number(((2 * Math.PI * distance) / turned).toPrecision(DIGITS))
                    : NaN;
            return turned < CLEAR;
        });
    }
    return wavelengths;
}
