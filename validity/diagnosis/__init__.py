"""Is a misconception recognised in code that is laid out differently?"""
