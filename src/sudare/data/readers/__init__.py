"""Every way in: files, memory, databases, Spark, publishers."""
