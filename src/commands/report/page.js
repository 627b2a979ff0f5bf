// The page's own script: search, keys, folding and the theme. It makes no markup, and asks nobody anything.

(() => {
  const at = (id) => document.getElementById(id);
  const root = document.documentElement;
  const search = at('search');
  const problems = at('problems');
  const rows = [...document.querySelectorAll('[data-row]')];
  const turns = [...document.querySelectorAll('.turn')];
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };

  const filter = () => {
    const words = search.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const narrowed = words.length > 0 || problems.checked;
    let shown = 0;
    for (const row of rows) {
      const wanted =
        (!problems.checked || row.hasAttribute('data-problem')) &&
        words.every((word) => textOf(row).includes(word));
      row.hidden = !wanted;
      if (wanted) shown += 1;
    }
    for (const turn of turns) {
      turn.hidden = narrowed && turn.querySelector('[data-row]:not([hidden])') === null;
    }
    at('nothing').hidden = !narrowed || shown > 0;
    at('count').value = narrowed ? shown + ' of ' + rows.length + ' shown' : '';
    highlight(words);
  };

  // Drawn by the browser over the text: the document stays as it is.
  const highlight = (words) => {
    if (!('highlights' in CSS)) return;
    CSS.highlights.delete('found');
    if (words.length === 0) return;
    const found = new Highlight();
    for (const row of rows) {
      if (row.hidden || found.size > 500) continue;
      const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null && found.size <= 500; node = walker.nextNode()) {
        const text = node.data.toLowerCase();
        // Of a few letters the lower case is longer: places would not be those of the text.
        if (text.length !== node.data.length) continue;
        for (const word of words) {
          for (
            let i = text.indexOf(word);
            i !== -1 && found.size <= 500;
            i = text.indexOf(word, i + word.length)
          ) {
            const range = new Range();
            range.setStart(node, i);
            range.setEnd(node, i + word.length);
            found.add(range);
          }
        }
      }
    }
    CSS.highlights.set('found', found);
  };

  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, rows.length > 2000 ? 150 : 0);
  };
  search.addEventListener('input', soon);
  problems.addEventListener('change', filter);
  at('tools').addEventListener('submit', (event) => event.preventDefault());

  const fold = (open) => {
    for (const row of rows) if (row.localName === 'details' && !row.hidden) row.open = open;
  };
  at('unfold').addEventListener('click', () => fold(true));
  at('fold').addEventListener('click', () => fold(false));

  const step = (by) => {
    const shown = rows.filter((row) => !row.hidden);
    if (shown.length === 0) return false;
    const now = document.activeElement.closest('[data-row]');
    let next = shown.indexOf(now) + by;
    if (now === null) {
      // From where the reader looks.
      const first = shown.findIndex((row) => row.getBoundingClientRect().top >= at('tools').offsetHeight);
      next = first === -1 ? shown.length - 1 : by > 0 ? first : first - 1;
    }
    const row = shown[Math.min(Math.max(next, 0), shown.length - 1)];
    (row.querySelector('summary') ?? row).focus();
    return true;
  };
  const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target, key } = event;
    if (key === 'Escape' && (target === search || search.value !== '' || problems.checked)) {
      search.value = '';
      problems.checked = false;
      search.blur();
      filter();
      return;
    }
    // Whoever speaks to the machine, or hits keys by chance, can turn single letters off (WCAG 2.2, 2.1.4).
    if (target === search || (key.length === 1 && !at('letters').checked)) return;
    if (key === '/') {
      event.preventDefault();
      search.focus();
      search.select();
      return;
    }
    if (!Object.hasOwn(STEPS, key)) return;
    // Arrows scroll, unless a row is what they start from.
    if (key.startsWith('Arrow') && !target.matches('[data-row], [data-row] > summary')) return;
    if (step(STEPS[key])) event.preventDefault();
  });

  const THEMES = ['system', 'light', 'dark'];
  at('theme').addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? 'system') + 1) % THEMES.length];
    root.dataset.theme = next;
    at('theme').textContent = 'Theme: ' + next;
  });

  at('tools').hidden = false;
  at('theme').hidden = false;
  filter();
})();
