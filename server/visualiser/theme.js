// Light or dark theme: the system's until the button is pressed; that choice is stored. An
// address may fix it.
import {recall, remember} from './storage.js';

const KEY = 'posenc.theme';

export function createTheme(button, changed, fixed = '') {
    const system = matchMedia('(prefers-color-scheme: dark)');
    let chosen = ['light', 'dark'].includes(fixed) ? fixed : recall(KEY);
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
        remember(KEY, chosen);
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
