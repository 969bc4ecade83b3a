import { formatDuration } from '../../domain/text';
import type { ReleaseEnding, UnitTotals } from '../../domain/views';
import { CLASS_BY_TONE, END_SYMBOLS } from '../tones';

/** Bars and squares. Each says in words the same as it shows. */

/** A part of a bar: its length is its time. */
export interface BarPart {
  readonly kind: string;
  readonly label: string;
  readonly ms: number;
}

const BAR_UNITS = 1_000;

/** How a time was spent: parts side by side; waiting is hatched. */
export function TimeBar({ parts, outOfMs }: { readonly parts: readonly BarPart[]; readonly outOfMs: number }) {
  const whole = Math.max(1, outOfMs);
  let at = 0;
  const rects = parts.map((part) => {
    const width = (part.ms / whole) * BAR_UNITS;
    const x = at;
    at += width;
    return { ...part, x, width };
  });
  const words = parts.map(describePart).join(', ');
  return (
    <svg
      class="bar"
      viewBox={`0 0 ${BAR_UNITS} 14`}
      preserveAspectRatio="none"
      role="img"
      aria-label={words || 'no time'}
    >
      {rects.map(({ kind, label, ms, x, width }) => (
        <rect class={`part-${kind}`} x={roundTenth(x)} width={roundTenth(Math.max(width, 1.5))} height="14">
          <title>{describePart({ kind, label, ms })}</title>
        </rect>
      ))}
    </svg>
  );
}

export const describePart = ({ label, ms }: BarPart): string => `${label} ${formatDuration(ms)}`;

/** Tasks of a phase: live, updated but not live yet, and the rest. */
export function TaskBar({ counts, words }: { readonly counts: UnitTotals; readonly words: string }) {
  const { targeted, updated, live } = counts;
  if (targeted === 0) return null;
  const share = (count: number): number => (Math.max(0, Math.min(count, targeted)) / targeted) * BAR_UNITS;
  return (
    <svg class="bar tasks" viewBox={`0 0 ${BAR_UNITS} 14`} preserveAspectRatio="none" role="img" aria-label={words}>
      <rect class="part-rest" width={BAR_UNITS} height="14" />
      <rect class="part-updated" width={roundTenth(share(updated))} height="14" />
      <rect class="part-live" width={roundTenth(share(live))} height="14" />
    </svg>
  );
}

/** The ends of the last releases, oldest first: a square, a triangle, a cross or a ring. Those of one kind are one path. */
export function EndSquares({ ends }: { readonly ends: readonly ReleaseEnding[] }) {
  if (ends.length === 0) return <span class="none">none yet</span>;
  const width = ends.length * END_STEP;
  const kinds = ends.filter((end, nth) => ends.indexOf(end) === nth);
  return (
    <svg class="ends" viewBox={`0 0 ${width} 12`} width={width} height="12" role="img">
      <title>{`Oldest first: ${describeEnds(ends)}`}</title>
      {kinds.map((kind) => (
        <path
          class={CLASS_BY_TONE[END_SYMBOLS[kind].tone]}
          d={ends.map((end, nth) => (end === kind ? END_SHAPES[kind](nth * END_STEP) : '')).join('')}
        />
      ))}
    </svg>
  );
}

const END_STEP = 15;

const END_SHAPES: Readonly<Record<ReleaseEnding, (x: number) => string>> = {
  succeeded: (x) => `M${x + 1} 1h10v10h-10z`,
  reverted: (x) => `M${x + 1} 6l10-5v10z`,
  failed: (x) => `M${x + 1} 3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z`,
  cancelled: (x) => `M${x + 1} 1h10v10h-10zM${x + 3.5} 3.5v5h5v-5z`,
};

/** `3 succeeded, failed, 2 succeeded` */
function describeEnds(ends: readonly ReleaseEnding[]): string {
  const runs: { readonly end: ReleaseEnding; count: number }[] = [];
  for (const end of ends) {
    const last = runs.at(-1);
    if (last?.end === end) last.count += 1;
    else runs.push({ end, count: 1 });
  }
  return runs.map(({ end, count }) => (count === 1 ? end : `${count} ${end}`)).join(', ');
}

/** How much of a bake is over, as a filled clock. */
export function BakeClock({ share, words }: { readonly share: number; readonly words: string }) {
  const angle = Math.max(0, Math.min(0.9999, share)) * 2 * Math.PI;
  const [x, y] = [7 + 6 * Math.sin(angle), 7 - 6 * Math.cos(angle)];
  return (
    <svg class="clock" viewBox="0 0 14 14" width="14" height="14" role="img" aria-label={words}>
      <circle cx="7" cy="7" r="6" />
      <path d={`M7 7V1A6 6 0 ${angle > Math.PI ? 1 : 0} 1 ${roundTenth(x)} ${roundTenth(y)}z`} />
    </svg>
  );
}

const roundTenth = (value: number): number => Math.round(value * 10) / 10;
