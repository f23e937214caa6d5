// Random numbers that a seed decides: mulberry32, and normal ones by Box and Muller's
// transform.
function uniforms(seed) {
    let state = seed | 0;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let bits = Math.imul(state ^ (state >>> 15), 1 | state);
        bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
        return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
    };
}

// count() gives that many independent normal numbers, an even number.
export function normals(seed) {
    const uniform = uniforms(seed);
    return (count) => {
        const numbers = new Float64Array(count);
        for (let i = 0; i < count; i += 2) {
            const radius = Math.sqrt(-2 * Math.log(1 - uniform())),
                angle = 2 * Math.PI * uniform();
            numbers[i] = radius * Math.cos(angle);
            numbers[i + 1] = radius * Math.sin(angle);
        }
        return numbers;
    };
}
