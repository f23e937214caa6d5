// Everything the page knows about a scheme, from its document in /v1/schemes.

// comfortable sizes to begin with
export const COMPLETIONS = {
    rows: 128,
    keys: 64,
    columns: 64,
    cells: 16,
    points: 16,
    bits: 16,
    frequencies: 8,
    tokens: 8,
};

const ADDED = /\badded to the attention scores\b/;

// Whether a scheme's tensor, its primary one by default, is a bias of the attention scores.
export const isBias = ({tensors}, name = tensors.find(({primary}) => primary)?.name) =>
    ADDED.test(tensors.find((each) => each.name === name)?.help);

export function parameterOf(scheme, name) {
    return scheme.parameters.find((parameter) => parameter.name === name);
}

// The sum, difference, product or quotient of names and numbers, such as "queries+keys-1"; NaN
// where a name is unknown. Left to right, with * and / before + and -.
export function evaluate(expression, values) {
    const terms = expression.replace(/\s+/g, '').match(/[+-]?[^+-]+/g) ?? [];
    return terms.reduce((sum, term) => {
        const factors = term.replace(/^[+-]/, '').match(/[*/]?[^*/]+/g);
        const product = factors.reduce((value, factor) => {
            const name = factor.replace(/^[*/]/, '');
            const operand = /^[\d.]+$/.test(name) ? Number(name) : Number(values[name] ?? NaN);
            return factor[0] === '/' ? value / operand : value * operand;
        }, 1);
        return sum + (term[0] === '-' ? -product : product);
    }, 0);
}

// The rules for a parameter, given the other values: whether it is allowed or required, and its
// default.
export function conditionsOf(scheme, parameter, effective) {
    if (parameter.unless && effective[parameter.unless] != null)
        return {legal: false, blocked: parameter.unless};
    if (!parameter.when)
        return {legal: true, required: parameter.required, default: parameter.default};
    const choice = effective[parameter.when.parameter];
    const found = parameter.when.cases.find((each) => String(each.choice) === String(choice));
    return found
        ? {legal: true, required: found.required, default: found.default}
        : {legal: false};
}

const SIZES = ['rows', 'keys', 'columns', 'cells', 'heads', 'bits'];
const names = (text) => text.match(/[\p{L}_]\w*/gu) ?? [];

// Whether a parameter stands in the form's first part: it must be given, at least with some
// choice; it is a size; the example or the formula names it; or others depend on it.
export function isEssential(scheme, {name, type, unit, required, when}) {
    if (required || when?.cases.some((each) => each.required)) return true;
    if (when) return false;
    if (type === 'integer' && SIZES.includes(unit)) return true;
    if (new URLSearchParams(scheme.example).has(name) || names(scheme.formula).includes(name))
        return true;
    return scheme.parameters.some((each) => each.when?.parameter === name);
}

// Every parameter's value as far as it is known here: given, from the preset, or the default.
export function effectiveOf(scheme, parameters) {
    const preset = scheme.presets.find(({name}) => name === parameters.preset)?.values ?? {};
    const effective = {};
    for (const {name} of scheme.parameters) {
        const given = parameters[name] ?? preset[name];
        if (given != null) effective[name] = String(given);
    }
    for (const parameter of scheme.parameters) {
        const {name} = parameter;
        if (effective[name] != null) continue;
        const conditions = conditionsOf(scheme, parameter, effective);
        if (!conditions.legal) continue;
        const value = parameter.default_of
            ? evaluate(parameter.default_of, effective)
            : conditions.default;
        if (value != null && !Number.isNaN(value)) effective[name] = String(value);
    }
    return effective;
}

// The parameters that are required and not given, so far as the document says.
export const missingOf = (scheme, effective) =>
    scheme.parameters.filter((parameter) => {
        const {legal, required} = conditionsOf(scheme, parameter, effective);
        return legal && required && effective[parameter.name] == null;
    });

// The first parameters of a table, with their values, that another one does not share.
const differencesOf = ({scheme, effective}, other) =>
    scheme.parameters
        .filter(({name}) => effective[name] !== other.effective[name])
        .slice(0, 3)
        .filter(({name}) => effective[name] != null)
        .map(({name}) => `${name} ${effective[name]}`);

// A name for each of one or two tables: the scheme and, if both have the same, the parameters
// that differ.
export function titlesOf(tables) {
    const [one, other] = tables;
    if (!other) return [one.scheme.name];
    const same = one.scheme === other.scheme;
    return tables.map((table, side) =>
        [
            `${'AB'[side]}: ${table.scheme.name}`,
            ...(same ? differencesOf(table, tables[1 - side]) : []),
        ].join(', '),
    );
}

// What a view (see views.js) is called where it shows a table.
export const titleOf = ({title}, {tensor, scheme}) =>
    typeof title === 'string' ? title : title(tensor, scheme);

// Parameters to start with: the scheme's example, and the example with larger sizes, of which
// `why` says what they are.
export function beginningsOf(scheme) {
    const example = Object.fromEntries(new URLSearchParams(scheme.example));
    const comfortable = {...example};
    for (const {name, type, unit, maximum, multiple_of: multiple = 1} of scheme.parameters)
        if (name in example && COMPLETIONS[unit])
            comfortable[name] = example[name]
                .split(type === 'array' ? ',' : null)
                .map((each) =>
                    Math.max(
                        Number(each),
                        Math.min(
                            Math.floor(COMPLETIONS[unit] / multiple) * multiple,
                            maximum ?? Infinity,
                        ),
                    ),
                )
                .join();
    // what a table comes from and becomes: the patches of images that people know
    const [source] = Object.keys(example).filter((name) => /^source_/.test(name));
    if (!source) return {example, comfortable, why: ''};
    Object.assign(comfortable, {[source]: '14', [source.replace('source_', '')]: '24'});
    const why =
        'Begins with the 14 × 14 patches of an image of 224 pixels, resized to the 24 × 24 ' +
        'of one of 384 pixels.';
    return {example, comfortable, why};
}

const known = (effective) => ({
    ...effective,
    n: effective.positions?.split(',').length ?? effective.length,
    queries: effective.query_length ?? effective.length,
    keys: effective.length,
});

// The names of a tensor's axes: of the shapes that its documentation lists, the one that fits.
export function axesOf(documented, shape, effective) {
    const values = known(effective);
    const shapes = [...(documented ?? '').matchAll(/\[([^\]]*)\]/g)].map(([, text]) =>
        text.split(',').map((axis) => axis.trim()),
    );
    const fitting = shapes.filter((axes) => axes.length === shape.length);
    const agrees = (axes) =>
        axes.every((axis, i) => {
            const extent = evaluate(axis, values);
            return Number.isNaN(extent) || extent === shape[i];
        });
    return fitting.find(agrees) ?? fitting[0] ?? shape.map((_, i) => `axis ${i}`);
}

const AXIS_TITLES = {
    n: 'position',
    queries: 'query',
    keys: 'key',
    heads: 'head',
    distances: 'distance',
    'queries+keys-1': 'distance',
    height: 'row',
    width: 'column',
    depth: 'frame',
    query_height: 'row of the query',
    query_width: 'column of the query',
    1: '',
};

// A readable name for an axis, singular: how many there are stands in the document; an
// expression only says that these are rows, or columns, of nothing else. `last` says whether
// it is the last of several.
export function axisTitle(axis, last = false) {
    if (/\bcells\b|\bheight \* width\b/.test(axis)) return 'cell';
    if (axis in AXIS_TITLES) return AXIS_TITLES[axis];
    if (/^dim\b/.test(axis)) return 'dimension';
    if (/^\d+$/.test(axis)) return 'component';
    if (/[^a-z_]/.test(axis)) return last ? 'column' : 'table row';
    return axis === 'axes' ? 'axis' : axis.replace(/s$/, '').replace(/_/g, ' ');
}

// The value at an index of an axis: a position, or the index itself.
export function coordinatesOf(axis, effective) {
    const number = (name, fallback) => Number(effective[name] ?? fallback);
    if (axis === 'n' && effective.positions) {
        const positions = effective.positions.split(',').map(Number);
        return (i) => positions[i];
    }
    if (axis === 'n') {
        const offset = number('offset', 0),
            step = number('step', 1);
        return (i) => offset + i * step;
    }
    if (axis === 'queries') return (i) => number('query_offset', 0) + i;
    return (i) => i;
}
