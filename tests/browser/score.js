// Scores of random queries and keys by their definition: both are drawn, turned and multiplied.

function uniforms(seed) {
    // mulberry32
    let a = seed >>> 0;
    return () => {
        a = (a + 0x6d2b79f5) >>> 0;
        let t = Math.imul(a ^ (a >>> 15), a | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

function vectorOf(uniform, size) {
    // Box and Muller's transform
    const pairs = Array.from({length: size / 2}, () => {
        const length = Math.sqrt(-2 * Math.log(1 - uniform())),
            angle = 2 * Math.PI * uniform();
        return [length * Math.cos(angle), length * Math.sin(angle)];
    });
    return pairs.flat();
}

const turned = (vector, cos, sin) =>
    vector.map((value, i) =>
        i % 2 === 0
            ? value * cos[i / 2] - vector[i + 1] * sin[i / 2]
            : vector[i - 1] * sin[(i - 1) / 2] + value * cos[(i - 1) / 2],
    );

// The mean score of `draws` queries at a row with keys at row `key`: half-width tables cos and
// sin of `count` columns, and others where keys turn by others.
export function scoreOf({cos, sin, count, row, seed, draws, other = false, ...keys}) {
    const {key: place = 0, keyCos = cos, keySin = sin} = keys;
    const uniform = uniforms(seed);
    const at = (table, from) => table.subarray(from * count, (from + 1) * count);
    let sum = 0;
    for (let draw = 0; draw < draws; draw++) {
        const query = vectorOf(uniform, 2 * count),
            key = other ? vectorOf(uniform, 2 * count) : query;
        const [one, two] = [
            turned(query, at(cos, row), at(sin, row)),
            turned(key, at(keyCos, place), at(keySin, place)),
        ];
        sum += one.reduce((dot, value, i) => dot + value * two[i], 0) / Math.sqrt(2 * count);
    }
    return sum / draws;
}
