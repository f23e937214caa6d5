// Variants of the same settings: one for each choice of the parameter that steers most others.
// What the variants need in common, the training length and the factor by which it is exceeded,
// is found in the scheme's document.
import {STRETCH, completed, demand, dependents, most, rolesOf} from './prefill.js';
import {reachOf} from './numbers.js';
import {conditionsOf, effectiveOf} from './schema.js';

// The parameter with choices on which most others depend, or null.
export function steeringOf(scheme) {
    const steering = scheme.parameters.filter(
        (each) => each.choices && dependents(scheme, each.name).length > 0,
    );
    return most(steering, (each) => dependents(scheme, each.name).length);
}

// The positions from the first to the last that the rows of a table stand for, in any order.
export function spanOf({coordinates: [{at}], totalRows, effective}) {
    const count = effective.positions ? totalRows : 2;
    const ends = Array.from({length: count}, (_, i) =>
        at(count === 2 ? i * (totalRows - 1) : i),
    );
    const [from, to] = reachOf(ends);
    return to - from + 1;
}

// The training length: {length, from}, as the parameters say it, the mark, or else a quarter of
// the table; null if no variant asks for it and nobody says it.
export function trainingOf(table, mark) {
    const {scheme, effective} = table;
    const steering = steeringOf(scheme);
    const {trained} = steering ? rolesOf(scheme, steering.name) : {};
    const given = trained && effective[trained.name];
    if (given != null) return {length: Number(given), from: 'parameters'};
    if (mark > 0) return {length: mark, from: 'mark'};
    return trained ? {length: Math.ceil(spanOf(table) / STRETCH), from: 'table'} : null;
}

// The training length that the settings themselves state, or null.
export function statedLength(table) {
    const {length, from} = trainingOf(table, null) ?? {};
    return from === 'parameters' ? length : null;
}

// What is said of variants in common: the value of each parameter that some of them require.
function commonOf(table, mark) {
    const {scheme, effective} = table,
        steering = steeringOf(scheme);
    const {trained, stretch} = rolesOf(scheme, steering.name);
    const span = spanOf(table),
        {length} = trainingOf(table, mark) ?? {length: span};
    const valueOf = ({name, type, unit}) => {
        if (name === trained?.name) return String(length);
        if (name === stretch?.name)
            return Number(effective[name]) > 1
                ? effective[name]
                : String(Number(Math.max(1, span / length).toPrecision(6)));
        return unit === 'positions' && type === 'integer' ? String(Math.ceil(span)) : null;
    };
    return dependents(scheme, steering.name)
        .filter((each) => demand(each) > 0)
        .map((parameter) => ({parameter, value: valueOf(parameter)}))
        .filter(({value}) => value != null);
}

// The choices of a table's scheme: [{choice, own: whether it is that of these settings, lists:
// whether it asks for lists of numbers, load()}]. load() resolves to {parameters, described},
// see `completed`, or rejects with a Problem.
export function variantsOf(table, mark) {
    const {scheme, settings, effective, described} = table;
    const steering = steeringOf(scheme);
    const own = {
        choice: steering ? effective[steering.name] : '',
        own: true,
        lists: false,
        load: async () => ({parameters: settings.parameters, described}),
    };
    if (!steering) return [own];
    const common = commonOf(table, mark);
    return steering.choices.map(String).map((choice) => {
        if (choice === own.choice) return own;
        const chosen = {...settings.parameters, [steering.name]: choice};
        const legal = (parameter) =>
            conditionsOf(scheme, parameter, effectiveOf(scheme, chosen)).legal;
        for (const {parameter, value} of common)
            if (chosen[parameter.name] == null && legal(parameter))
                chosen[parameter.name] = value;
        const lists = dependents(scheme, steering.name).some(
            ({type, when}) =>
                type === 'array' &&
                when.cases.some((each) => each.required && String(each.choice) === choice),
        );
        return {
            choice,
            own: false,
            lists,
            load: () => completed(scheme, chosen, steering.name),
        };
    });
}
