import type { AuditRecord } from '../domain/audit/record';
import { conjugate, plural } from '../domain/text';
import type { ChainVerification } from '../settings/audit/files';
import { listTable, type ListTexts } from './columns';
import { fold, paint, tint, type View } from './paint';
import { ago, truncateToSeconds } from './times';

const AUDIT_SYMBOLS = {
  accepted: { glyph: '✔', tone: 'good' },
  refused: { glyph: '✘', tone: 'bad' },
  unknown: { glyph: '?', tone: 'warn' },
} as const;

/** Newest first. `wide` adds full times and the changes. */
export const auditTable = (records: readonly AuditRecord[], view: View, wide: boolean): string =>
  listTable({ ...auditTexts(records, view, wide), wide }, view);

export function auditTexts(records: readonly AuditRecord[], view: View, wide: boolean): ListTexts {
  const colors = paint(view.color);
  const heading = [
    'WHEN',
    'WHO',
    'DID',
    'WHAT',
    'WHY',
    'RESULT',
    ...(wide ? ['DOOR', 'PERMITTED BY', 'CHANGES', 'RECORD'] : []),
  ];
  const cells = records.map((record) => {
    const { glyph, tone } = AUDIT_SYMBOLS[record.outcome];
    return [
      wide ? truncateToSeconds(record.at) : ago(record.at, view),
      record.actor ?? (record.door === 'server' ? 'the server' : 'unknown'),
      tint(colors, tone, `${glyph} ${record.operation}`),
      record.target || '–',
      record.reason ?? '–',
      record.result ?? '–',
      ...(wide
        ? [record.door, formatPermission(record), formatAuditChanges(record), `${record.server}:${record.seq}`]
        : []),
    ];
  });
  return { heading, rows: cells, empty: 'no records' };
}

/** Records of older versions lack the rule. */
const formatPermission = ({ permitted }: Partial<AuditRecord>): string => permitted ?? '–';

function formatAuditChanges({ changes, omitted }: AuditRecord): string {
  const shown = changes.map(({ path, from, to }) => `${path}: ${from ?? 'nothing'} → ${to ?? 'nothing'}`);
  return [...shown, ...(omitted > 0 ? [`and ${omitted} more`] : [])].join('; ') || '–';
}

/** One chain per line. */
export function verificationText(chains: readonly ChainVerification[], view: View): string {
  const colors = paint(view.color);
  return chains
    .map(({ chain, records, last, hasEnds, broken }) => {
      if (broken !== null)
        return colors.red(`✘ ${chain}: broken at record ${broken.seq} (${broken.file}:${broken.line}): ${broken.why}`);
      const upTo = last === null || records === 0 ? '' : `, up to ${last.seq}:${last.hash}`;
      const note = hasEnds || records === 0 ? '' : ', consistent with --expect; the note of its ends is missing';
      return `${colors.green('✔')} ${chain}: ${plural(records, 'record')} ${conjugate(records, 'hold')}${upTo}${note}`;
    })
    .flatMap((line) => fold(line, view.width))
    .join('\n');
}
