// The settings of both sides: which scheme, its form, Reset; and A and B in turn where there is
// little room.
import {describe} from './api.js';
import {Form} from './form.js';
import {withinRules} from './legal.js';
import {completed, steers} from './prefill.js';
import {createPicker} from './picker.js';
import {beginningsOf} from './schema.js';

const SIDES = ['left', 'right'];
const byId = (id) => document.getElementById(id);

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
    #asking = 0; // edits that ask the service before they change the state
    #rested;

    // `rested` is called when no edit asks any more.
    constructor(schemes, store, rested) {
        this.#schemes = schemes;
        this.#store = store;
        this.#rested = rested;
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

    // Whether an edit waits for the service: the state is about to change.
    asks() {
        return this.#asking > 0;
    }

    async #ask(answer) {
        this.#asking++;
        document.body.classList.add('busy');
        try {
            return await answer;
        } finally {
            this.#asking--;
            this.#rested();
        }
    }

    async #start(side, name) {
        const settings = await this.#ask(begin(this.#schemeOf(name)));
        this.#store.update(
            {[side]: settings, options: placeless(this.#store.get().options)},
            'settings',
        );
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

    async #edit(side, parameters, change) {
        const asked = this.#store.get()[side];
        const scheme = this.#schemeOf(asked.scheme);
        if (!steers(scheme, change.name)) return this.#settle(side, parameters, change);
        const {parameters: working, added} = await this.#ask(
            completed(scheme, parameters, change.name),
        );
        if (this.#store.get()[side] !== asked) return; // something else was chosen meanwhile
        this.#settle(side, working, change);
        this.#forms[side].goTo(added[0]);
    }

    // The side that is shown where there is room for one.
    #choose(side) {
        document.body.dataset.side = side;
        for (const each of SIDES)
            byId(`only-${each}`).setAttribute('aria-pressed', String(each === side));
    }

    // Put a problem beside its fields, or take it away with null.
    complain(side, problem) {
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
