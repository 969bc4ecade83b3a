/** An IANA name with a place in it, or UTC. */
export const ZONE_PATTERN = '^(UTC|[A-Za-z]+/[A-Za-z0-9_+/-]+)$';

/** The zone in which most people who write the abbreviation live. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ UCT: 'UTC', GMT: 'UTC', ZULU: 'UTC', Z: 'UTC', UTC: 'UTC' },
  ...{ BST: 'Europe/London', WET: 'Europe/Lisbon', CET: 'Europe/Berlin', CEST: 'Europe/Berlin', MET: 'Europe/Berlin' },
  ...{ EET: 'Europe/Helsinki', EEST: 'Europe/Helsinki', MSK: 'Europe/Moscow' },
  ...{ EST: 'America/New_York', EDT: 'America/New_York', EST5EDT: 'America/New_York', AST: 'America/Halifax' },
  ...{ CST: 'America/Chicago', CDT: 'America/Chicago', CST6CDT: 'America/Chicago' },
  ...{ MST: 'America/Denver', MDT: 'America/Denver', MST7MDT: 'America/Denver' },
  ...{ PST: 'America/Los_Angeles', PDT: 'America/Los_Angeles', PST8PDT: 'America/Los_Angeles' },
  ...{ HST: 'Pacific/Honolulu', SST: 'Pacific/Pago_Pago', ECT: 'America/Guayaquil', IST: 'Asia/Kolkata' },
  ...{ JST: 'Asia/Tokyo', KST: 'Asia/Seoul', AEST: 'Australia/Sydney', NZST: 'Pacific/Auckland' },
};

/** The name to write in place of an invalid one. */
export const timezoneFor = (name: string): string => MEANT[name.toUpperCase()] ?? 'America/Los_Angeles or UTC';
