// Settings that the service takes: what a choice or a link leaves open is filled in, what it
// excludes is left out.
import {Problem, describe} from './api.js';
import {
    COMPLETIONS,
    beginningsOf,
    conditionsOf,
    effectiveOf,
    missingOf,
    parameterOf,
} from './schema.js';

const TRIES = 4;
const SOME = 64; // positions of a model that was trained on few
export const STRETCH = 4; // times that a table is longer than the training, unless it is said

export const dependents = (scheme, name) =>
    scheme.parameters.filter(({when}) => when?.parameter === name);
export const most = (items, size) =>
    items.reduce((best, each) => (best && size(best) >= size(each) ? best : each), null);

// How many choices require a parameter.
export const demand = ({when}) => when.cases.filter(({required}) => required).length;

// {trained, stretch}: of what depends on the parameter `name` the position and the number that
// most choices require.
export function rolesOf(scheme, name) {
    const wanted = dependents(scheme, name).filter((each) => demand(each) > 0);
    return {
        trained: most(
            wanted.filter(({unit}) => unit === 'positions'),
            demand,
        ),
        stretch: most(
            wanted.filter(({type, unit}) => type === 'number' && !unit),
            demand,
        ),
    };
}

// The training length and the factor fit the table: together they are its length.
function fitting(scheme, {name, when}, effective, mark) {
    const {trained, stretch} = when ? rolesOf(scheme, when.parameter) : {};
    const length = Number(effective.length);
    const given = Number(trained && effective[trained.name]) || mark;
    const factor = Number(stretch && effective[stretch.name]) || STRETCH;
    if (!(length > 0)) return null;
    if (name === trained?.name) return String(mark || Math.ceil(length / factor));
    if (name !== stretch?.name) return null;
    return given ? String(Number(Math.max(1, length / given).toPrecision(6))) : String(STRETCH);
}

// A value for a parameter that has no default here: what the scheme's example has, what fits
// the table, that of a preset with the same choice, the size of the table for a position, what
// another choice has as its default, or a comfortable size.
function guess(scheme, parameter, effective, {lists, beginning, mark}) {
    const {name, type, when, unit, minimum = 0} = parameter;
    if (beginning[name] != null) return beginning[name];
    // the first list changes nothing, the next one does
    if (type === 'array') return String(4 ** Math.max(0, lists.indexOf(name)));
    const fits = fitting(scheme, parameter, effective, mark);
    if (fits) return fits;
    const steering = when?.parameter;
    const preset =
        steering &&
        scheme.presets.find(
            ({values}) => values[steering] === effective[steering] && values[name] != null,
        );
    if (preset) return String(preset.values[name]);
    if (unit === 'positions') return effective.length ?? String(Math.max(minimum, SOME));
    const other = when?.cases.map((each) => each.default).find((value) => value > minimum);
    return String(other ?? Math.max(minimum, COMPLETIONS[unit] ?? 1));
}

const without = (parameters, unwanted) =>
    Object.fromEntries(Object.entries(parameters).filter(([name]) => !unwanted(name)));

// The parameters after a choice of `name`, or of a link where there is no name: without those
// that the choice excludes, and with values for those that are missing, first by the scheme's
// document, then by what the service says is wrong. `mark` is the training length, if it is
// said. {parameters, added: names of new ones, removed, described: what the service makes of
// them, or null, problem: why it makes nothing}.
export async function completed(scheme, chosen, name = null, {mark = null} = {}) {
    const effective = () => effectiveOf(scheme, parameters);
    const rowOf = (each) => parameterOf(scheme, each);
    const chosenEffective = effectiveOf(scheme, chosen);
    const excluded = (each) => {
        const row = rowOf(each);
        if (!row || each === name) return false;
        if (row.unless === name && chosen[name] != null) return true;
        return (
            row.when?.parameter === name && !conditionsOf(scheme, row, chosenEffective).legal
        );
    };
    let parameters = without(chosen, excluded);
    const {comfortable, example} = beginningsOf(scheme);
    const lists = dependents(scheme, name).filter(({type}) => type === 'array');
    const help = {lists: lists.map((each) => each.name), beginning: comfortable, mark};
    const added = new Set();
    const add = (each, text) => {
        parameters = {...parameters, [each]: text};
        added.add(each);
    };
    for (const parameter of missingOf(scheme, effective()))
        add(parameter.name, guess(scheme, parameter, effective(), help));
    // Do what the service asks for in an error; whether that can be done.
    function mend({parameter: each, given, allowed}) {
        const row = rowOf(each);
        if (!row || each === name) return false;
        const items = /\blist of (\d+) items/.exec(allowed)?.[1];
        if (items && added.has(each)) {
            const value = guess(scheme, row, effective(), help);
            add(each, Array(Number(items)).fill(value).join());
        } else if (parameters[each] == null && given == null) {
            add(each, guess(scheme, row, effective(), help));
        } else if (added.has(each) && example[each] && parameters[each] !== example[each]) {
            add(each, example[each]);
        } else if (/\bleft out\b/.test(allowed) && parameters[each] != null) {
            parameters = without(parameters, (other) => other === each);
        } else return false;
        return true;
    }
    let described = null,
        problem = null;
    for (let i = 0; i < TRIES; i++) {
        [described, problem] = await describe({scheme: scheme.name, parameters}).then(
            (found) => [found, null],
            (error) => [null, error],
        );
        if (!(problem instanceof Problem)) break;
        if (!(problem.document.errors ?? []).map(mend).includes(true)) break;
    }
    return {
        parameters,
        added: [...added].filter((each) => parameters[each] != null),
        removed: Object.keys(chosen).filter((each) => parameters[each] == null),
        described,
        problem,
    };
}
