import { defineConfig } from 'conveyor/config';
import { limits } from './limits.schema';

export default defineConfig(limits, { soft: 50 });
