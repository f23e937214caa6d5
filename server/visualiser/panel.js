// The settings of both sides: which scheme, its form, Reset; and A and B in turn where there is
// little room.
import {describe} from './api.js';
import {busyUntil} from './busy.js';
import {byId} from './dom.js';
import {plain} from './fields.js';
import {Form} from './form.js';
import {withinRules} from './legal.js';
import {completed} from './prefill.js';
import {createPicker} from './picker.js';
import {beginningsOf} from './schema.js';
import {changesOf} from './strangers.js';

const SIDES = ['left', 'right'];

// The settings that a scheme starts with: the example with larger sizes, or the example if
// those are refused.
export async function begin(scheme) {
    const {comfortable, example} = beginningsOf(scheme);
    const settings = {scheme: scheme.name, parameters: comfortable};
    return describe(settings).then(
        () => settings,
        () => ({scheme: scheme.name, parameters: example}),
    );
}

// Choosing another scheme keeps the view and the training length, but not the window within the
// tensor.
const placeless = (options) => (options.mark ? {mark: options.mark} : {});

export class Panel {
    #schemes;
    #store;
    #forms = {};
    #pickers = {};
    #slid = null;
    #asked = {}; // by side: the last answer that an edit has asked the service for
    #wrong = {}; // by side: whether the settings are refused
    #tell;

    // `tell(side, parameters, text)` says what was done to settings beside what was asked for.
    constructor(schemes, store, tell) {
        this.#tell = tell;
        this.#schemes = schemes;
        this.#store = store;
        for (const side of SIDES) {
            this.#pickers[side] = createPicker(byId(`${side}-picker`), side, schemes, (name) =>
                this.#start(side, name),
            );
            byId(`${side}-reset`).addEventListener('click', () =>
                this.#start(side, store.get()[side].scheme),
            );
            byId(`only-${side}`).addEventListener('click', () => this.#choose(side));
            this.#forms[side] = new Form(side, (parameters, change) =>
                this.#edit(side, parameters, change),
            );
            byId(side).append(this.#forms[side].element);
        }
        byId('compare').addEventListener('click', () => {
            const {left, right} = store.get();
            this.#choose(right ? 'left' : 'right');
            store.update(
                {right: right ? null : {...left, parameters: {...left.parameters}}},
                'settings',
            );
        });
        this.#choose('left');
    }

    #schemeOf(name) {
        return this.#schemes.find((scheme) => scheme.name === name);
    }

    // What an edit of a side has asked the service for before it changes the state, or null if
    // something else was chosen meanwhile.
    async #ask(side, answer) {
        const before = this.#store.get()[side];
        this.#asked[side] = answer;
        const value = await busyUntil(answer);
        const last = this.#asked[side] === answer && this.#store.get()[side] === before;
        return last ? value : null;
    }

    async #start(side, name) {
        const settings = await this.#ask(side, begin(this.#schemeOf(name)));
        if (!settings) return;
        this.#store.update(
            {[side]: settings, options: placeless(this.#store.get().options)},
            'settings',
        );
        this.#tell(side, settings.parameters, beginningsOf(this.#schemeOf(name)).why);
    }

    #settle(side, parameters, {kind, name, held}) {
        const last = this.#store.get()[side];
        const settings = {...last, parameters};
        this.#slid = kind === 'slide' ? {side, name} : null;
        if (this.#slid)
            settings.parameters = {
                ...parameters,
                [name]: withinRules(settings, name, last.parameters[name]),
            };
        this.#store.update({[side]: settings}, kind, {burst: `${side}.${name}`, held});
    }

    // A choice brings what it asks for, and takes away what it excludes. One that the service
    // refuses even so is not made.
    async #edit(side, parameters, change) {
        const {name, kind, done} = change;
        const {scheme: schemeName, parameters: before} = this.#store.get()[side];
        const scheme = this.#schemeOf(schemeName);
        const replaces = scheme.parameters.some(({unless}) => unless === name);
        if (kind === 'slide' || !(done || replaces || parameters[name] == null))
            return this.#settle(side, parameters, change);
        const mark = Number(this.#store.get().options.mark) || null;
        const answer = await this.#ask(side, completed(scheme, parameters, name, {mark}));
        if (!answer) return;
        if (done && !answer.described && answer.problem.status > 0 && !this.#wrong[side]) {
            this.#forms[side].show(scheme, this.#store.get()[side]);
            const stays = `${plain(name)} stays as it was`;
            return this.#tell(side, before, `${stays}: ${answer.problem.message}.`);
        }
        const taken = answer.described ? answer.parameters : parameters;
        this.#settle(side, taken, change);
        if (answer.described) this.#tell(side, taken, changesOf(answer));
        if (done) this.#forms[side].goTo(answer.added[0]);
    }

    // The side that is shown where there is room for one.
    #choose(side) {
        document.body.dataset.side = side;
        for (const each of SIDES)
            byId(`only-${each}`).setAttribute('aria-pressed', String(each === side));
    }

    // Put a problem beside its fields, or take it away with null.
    complain(side, problem) {
        this.#wrong[side] = Boolean(problem);
        this.#forms[side].complain(problem);
    }

    // {side, name} of the slider that moved last, or null if something else has changed since.
    slid() {
        return this.#slid;
    }

    // Draw the forms after a change of a kind.
    show(state, kind) {
        if (kind !== 'slide') this.#slid = null;
        for (const side of SIDES) this.#showSide(side, state);
        byId('left-title').textContent = state.right ? 'A' : 'Settings';
        byId('compare').setAttribute('aria-pressed', String(Boolean(state.right)));
        document.body.classList.toggle('comparing', Boolean(state.right));
    }

    #showSide(side, state) {
        const settings = state[side];
        byId(side).hidden = !settings;
        if (!settings) return;
        const known = this.#schemeOf(settings.scheme);
        this.#pickers[side].show(settings.scheme);
        const other = side === 'right' && this.#schemeOf(state.left?.scheme);
        if (known)
            this.#forms[side].show(
                known,
                settings,
                other ? {scheme: other, parameters: state.left.parameters} : null,
            );
    }
}
