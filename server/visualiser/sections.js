// Sections below the heading, each opened by a button: one at a time, so that they do not pile
// up. Escape closes the one that is open, wherever the focus is.
const sections = [];

export function closeSections() {
    for (const each of sections) each.set(false);
}

// {set(shown), close()}: close() gives the focus back to the button. `opened` is called
// whenever the section has been opened.
export function createSection(button, section, {open = false, opened = () => {}} = {}) {
    const own = {
        shown: () => !section.hidden,
        set(shown) {
            if (shown) for (const each of sections) if (each !== own) each.set(false);
            section.hidden = !shown;
            button.setAttribute('aria-expanded', String(shown));
            if (shown) opened();
        },
        close() {
            own.set(false);
            button.focus();
        },
    };
    sections.push(own);
    button.addEventListener('click', () => own.set(section.hidden));
    section.hidden = !open;
    button.setAttribute('aria-expanded', String(open));
    return own;
}

globalThis.document?.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || document.body.classList.contains('loading')) return;
    const last = sections.find((each) => each.shown());
    if (!last) return;
    event.preventDefault(); // and what else listens closes nothing
    last.close();
});
