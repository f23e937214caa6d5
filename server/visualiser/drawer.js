// The settings on narrow screens: a drawer that lies over the page while it is open.
const NARROW = '(max-width: 800px)';

export function createDrawer(button, drawer) {
    const narrow = matchMedia(NARROW);
    function set(open) {
        document.body.classList.toggle('drawer-open', open);
        button.setAttribute('aria-expanded', String(open));
    }
    function close() {
        if (!document.body.classList.contains('drawer-open')) return;
        set(false);
        button.focus();
    }
    button.addEventListener('click', () => {
        const open = !document.body.classList.contains('drawer-open');
        set(open);
        if (open) drawer.querySelector('section:not([hidden]) .picker-button').focus();
    });
    drawer.querySelector('.drawer-close').addEventListener('click', close);
    drawer.addEventListener('keydown', (event) => {
        if (event.key !== 'Escape' || !document.body.classList.contains('drawer-open')) return;
        event.stopPropagation();
        close();
    });
    document.addEventListener('pointerdown', ({target}) => {
        if (!drawer.contains(target) && !button.contains(target)) set(false);
    });
    narrow.addEventListener('change', () => set(false));
    set(false);
}
