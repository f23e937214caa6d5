// Light or dark theme: the system's until the button is pressed; that choice is stored. An
// address may fix it.
const KEY = 'posenc.theme';

const stored = () => {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null;
    }
};

export function createTheme(button, changed, fixed = '') {
    const system = matchMedia('(prefers-color-scheme: dark)');
    let chosen = ['light', 'dark'].includes(fixed) ? fixed : stored();
    const current = () => chosen ?? (system.matches ? 'dark' : 'light');
    const show = () => {
        document.documentElement.dataset.theme = current();
        const other = current() === 'dark' ? 'Light theme' : 'Dark theme';
        button.textContent = '◐';
        button.title = other;
        button.setAttribute('aria-label', other);
    };
    button.addEventListener('click', () => {
        chosen = current() === 'dark' ? 'light' : 'dark';
        try {
            localStorage.setItem(KEY, chosen);
        } catch {
            /* a page without storage forgets it */
        }
        show();
        changed();
    });
    system.addEventListener('change', () => {
        show();
        changed();
    });
    show();
    return {current};
}
