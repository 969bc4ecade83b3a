/** Sequences that would steer a terminal, and a line that would pass as one of ours. */
export const TERMINAL_ATTACK = '\u001b[2J\u001b]0;owned\u0007\n# FORGED';

/** Texts that would become markup, a script, an address or other characters on a page that does not escape them. */
export const PAGE_ATTACKS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><svg onload=alert(1)>',
  '</textarea><b>',
  'javascript:alert(1)',
  TERMINAL_ATTACK,
  '\u202egnp.exe',
] as const;
