import { openEmbedded } from '../../../platform/archive/duckdb';
import { openPostgres } from '../../../platform/archive/postgres';
import type { Archive } from '../../../platform/archive/port';

/** The archive in a file, or behind a URL of PostgreSQL. */
export const archiveAt = (place: string): Archive =>
  place.startsWith('postgres:') ? openPostgres(place) : openEmbedded(place);
